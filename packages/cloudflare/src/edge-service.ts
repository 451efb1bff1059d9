// The sessions of objects as a service, which `@holdfast/server` exposes over HTTP in the Worker.

import type { SessionInfo, SessionOwner, SessionPage, SessionService, Submitted } from "@holdfast/server";
import { checkOptions, optionNames } from "@holdfast/upp";
import { isHoldfastError } from "holdfast";
import { recovery } from "holdfast/execute";
import { readAnswer } from "./answers.ts";
import { directoryOf } from "./directory.ts";
import { readLines } from "./lines.ts";
import { ownerName, sessionName } from "./owner-name.ts";
import type { ObjectNamespace } from "./platform.ts";
import type { SessionQuestion } from "./session-object.ts";

const edgeServiceNames = optionNames<EdgeServiceOptions>({
	sessions: "object",
	directory: "object",
	sessionsOf: ["user", "tenant"],
	clients: ["bring-context"],
});

/** Options of `edgeService`. */
export interface EdgeServiceOptions {
	/** The binding of a `sessionObject()`: one object per session. */
	readonly sessions: ObjectNamespace;
	/**
	 * The binding of a `directoryObject()`, the same as that of the session objects. Default: none, and lists are empty.
	 */
	readonly directory?: ObjectNamespace;
	/**
	 * The owner of a session; must equal the option of the session objects. `user` (the default): the user who created
	 * it. `tenant`: all users of a tenant share its sessions.
	 */
	readonly sessionsOf?: "user" | "tenant";
	/** How clients create sessions; must equal the option of the session objects. */
	readonly clients?: "bring-context";
}

/**
 * Creates a service for sessions in objects, for `createHandler` of `@holdfast/server` in a Worker.
 * @example
 * ```ts no-run
 * import { edgeService, type ObjectNamespace } from "@holdfast/cloudflare";
 * import { createHandler } from "@holdfast/server";
 *
 * const makeHandler = (sessions: ObjectNamespace) => createHandler({ service: edgeService({ sessions }) });
 * export default makeHandler;
 * ```
 */
export function edgeService(options: EdgeServiceOptions): SessionService {
	checkOptions(options, edgeServiceNames, { of: "edgeService()" });
	const { sessions, directory, sessionsOf = "user", clients } = options;
	const ownerOf = (given: string | SessionOwner): SessionOwner => {
		const { tenant, user } = typeof given === "string" ? { tenant: given, user: undefined } : given;
		return user === undefined || sessionsOf === "tenant" ? { tenant } : { tenant, user };
	};
	const call = (given: string | SessionOwner, path: string, question: Omit<SessionQuestion, "caller">) => {
		const name = sessionName(ownerOf(given), question.sessionId);
		const caller = typeof given === "string" ? { tenant: given } : given;
		return sessions.get(sessions.idFromName(name)).fetch(`https://session${path}`, {
			method: "POST",
			body: JSON.stringify({ ...question, caller }),
		});
	};
	const ask = async (...parameters: Parameters<typeof call>): Promise<unknown> =>
		readAnswer(await call(...parameters));

	return {
		...(clients === undefined ? {} : { clients }),
		async submit(caller, sessionId, request, { idempotencyKey } = {}) {
			const submitted = (await ask(caller, "/submit", {
				sessionId,
				request,
				...(idempotencyKey === undefined ? {} : { idempotencyKey }),
			})) as Submitted;
			const { waitsFor, after } = submitted;
			if (waitsFor === undefined) return submitted;
			const begun = async (signal: AbortSignal): Promise<string | undefined> => {
				const asked = insisting(() => ask(caller, "/begun", { sessionId, waitsFor, after }), signal);
				return ((await Promise.race([asked, aborted(signal)])) as string | null | undefined) ?? undefined;
			};
			return { ...submitted, begun };
		},
		get: async (owner, sessionId) =>
			((await ask(owner, "/get", { sessionId })) as SessionInfo | null) ?? undefined,
		async list(owner, options = {}): Promise<SessionPage> {
			return directory === undefined
				? { sessions: [] }
				: directoryOf(directory, ownerName(ownerOf(owner))).list(options);
		},
		// When a request ends, the platform closes everything that it opened, even if other requests read it.
		sharesFollowing: false,
		async *follow(owner, sessionId, { signal, after, until } = {}) {
			const answer = await call(owner, "/follow", {
				sessionId,
				...(after === undefined ? {} : { after }),
				...(until === undefined ? {} : { until }),
			});
			if (!answer.ok || answer.body === null) {
				await readAnswer(answer);
				return;
			}
			const leave = new AbortController();
			const lines = readLines<never>(
				answer.body.pipeThrough(new TransformStream(), { signal: leave.signal }),
			);
			const left = (): void => leave.abort();
			signal?.addEventListener("abort", left);
			try {
				if (signal?.aborted !== true) yield* lines;
			} catch (error) {
				if (signal?.aborted !== true) throw error;
			} finally {
				signal?.removeEventListener("abort", left);
				leave.abort();
			}
		},
		stop: async (owner, sessionId) => (await ask(owner, "/stop", { sessionId })) as { stopped: boolean },
		delete: async (owner, sessionId) => void (await ask(owner, "/delete", { sessionId })),
		// Each object recovers its own session with its alarm.
		recover: () => recovery(async function* () {}),
		supervise: async () => {},
		async *work() {},
		close: async () => {},
	};
}

/** Milliseconds before a request is repeated after its object was evicted. */
const askAgainMs = 500;
/** Maximum number of consecutive attempts for such an object. */
const mostQuestions = 20;

/** Repeats the call if the object is evicted during it: the next object with that name has the same data. */
async function insisting(ask: () => Promise<unknown>, signal: AbortSignal): Promise<unknown> {
	for (let asked = 1; ; asked++)
		try {
			return await ask();
		} catch (error) {
			if (isHoldfastError(error) || signal.aborted || asked === mostQuestions) throw error;
			await new Promise((resolve) => setTimeout(resolve, askAgainMs));
		}
}

function aborted(signal: AbortSignal): Promise<undefined> {
	return new Promise((resolve) => {
		if (signal.aborted) resolve(undefined);
		signal.addEventListener("abort", () => resolve(undefined), { once: true });
	});
}
