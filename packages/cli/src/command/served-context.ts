/** The context of a session on a running server, which its inspector describes. */
import { type AnyMessage, messageFromJSON } from "@holdfast/upp";
import { cacheReportOf, type Entry } from "holdfast/host";
import { contextOf } from "../render/index.ts";
import { UsageError } from "../work/index.ts";
import type { ServerAddress } from "./server-address.ts";

/** The used part of an entry, as the inspector returns it. */
interface ShownEntry {
	readonly seq: number;
	readonly kind: string;
	readonly body: Readonly<Record<string, unknown>>;
}

/** How many pages of entries are read; a page has hundreds of entries. */
const mostPages = 1_000;
/** Milliseconds that the server may take for an answer. */
const patience = 30_000;

/**
 * Returns what fills the context of a session on a server: the last request as the server rebuilds it, and its answer.
 * @throws UsageError if the server has no such session, no inspector, or refuses the key.
 */
export async function servedContext(
	server: ServerAddress,
	session: string,
): Promise<ReturnType<typeof contextOf>> {
	const path = `/api/inspect/session/${encodeURIComponent(session)}`;
	const answers: ShownEntry[] = [];
	for (let page = 0, after = 0; page < mostPages; page++) {
		const { entries, isLast } = (await ask(server, `${path}/entries?after=${after}`)) as {
			readonly entries: readonly ShownEntry[];
			readonly isLast: boolean;
		};
		answers.push(...entries.filter(({ kind }) => kind === "assistant"));
		after = entries.at(-1)?.seq ?? after;
		if (isLast || entries.length === 0) break;
	}
	const last = answers.at(-1);
	if (last === undefined) throw withoutAnswers(session);
	const { request, reply } = (await ask(server, `${path}/steps/${last.seq}`)) as {
		readonly request: { readonly system?: string; readonly messages: readonly unknown[] };
		readonly reply: ShownEntry;
	};
	const messages = [...request.messages, reply.body.message].map(
		(message) => messageFromJSON(message as never) as AnyMessage,
	);
	const calls = answers.map(({ seq, body }) => ({ seq, fact: { ...body, kind: "assistant" } }));
	return contextOf(messages, cacheReportOf(calls as unknown as readonly Entry[]), messages, request.system);
}

/** Returns the error for a session without a model's answer, such as that of a workflow. */
export function withoutAnswers(session: string): UsageError {
	return new UsageError(
		`No model has answered in the session "${session}", so it has no context to show. Sessions of workflows have none: their agents have sessions of their own.`,
	);
}

async function ask({ url, apiKey }: ServerAddress, path: string): Promise<unknown> {
	const address = `${url.replace(/\/+$/, "")}${path}`;
	const headers = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
	let response: Response;
	try {
		response = await fetch(address, { headers, signal: AbortSignal.timeout(patience), redirect: "error" });
	} catch (error) {
		const { cause = error } = error as { readonly cause?: unknown };
		throw new UsageError(`No server answers at ${url}: ${(cause as Error).message}. Check --server.`);
	}
	const answer = (await response.json().catch(() => undefined)) as
		| { readonly error?: string; readonly code?: string }
		| undefined;
	if (response.ok && answer !== undefined) return answer;
	const { code, error = String(response.status) } = answer ?? {};
	if (response.status === 401 || response.status === 403)
		throw new UsageError(
			`The server at ${url} refuses the request: ${error} Give a key with --api-key, or in HOLDFAST_API_KEY.`,
		);
	if (code !== undefined && (response.status !== 404 || code === "session_not_found"))
		throw new UsageError(`The server at ${url} answers: ${error} (${code})`);
	throw new UsageError(
		`The server at ${url} has no inspector, which this command reads. Serve it with holdfast serve, without --no-inspector.`,
	);
}
