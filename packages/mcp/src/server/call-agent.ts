// A tool call is a run of a session: it starts once under its key, is followed to its end, and its questions are passed
// on to the client.
import { createHash } from "node:crypto";
import type { RunView, ServedCaller, SessionService, Submitted } from "@holdfast/server";
import { uuid } from "@holdfast/upp";
import {
	type CallToolResult,
	type ElicitResult,
	type InputRequests,
	ProtocolError,
	ProtocolErrorCode,
} from "@modelcontextprotocol/server";
import type { PendingSessionCall } from "holdfast/execute";
import { sessionIdOf, type TaskPlace, toolOfSession } from "./task-id.ts";

/** The member of a result's `_meta` that names its session; the argument `session` continues it. */
export const sessionMember = "dev.holdfast/session";

/** The schema of a tool's arguments. */
export const callParameters: {
	readonly type: "object";
	readonly properties: Record<
		string,
		{ readonly type: string; readonly minLength?: number; readonly description: string }
	>;
	readonly required: string[];
} = {
	type: "object",
	properties: {
		prompt: { type: "string", minLength: 1, description: "The task, with everything needed to do it." },
		session: {
			type: "string",
			description:
				"To continue an earlier conversation: the session that its result named. Left out: a new one.",
		},
	},
	required: ["prompt"] as string[],
};

/** A call from a client. */
export interface AgentCall {
	readonly caller: ServedCaller;
	readonly tool: string;
	readonly params: Readonly<Record<string, unknown>> | undefined;
	/** Shared by all attempts at the call. */
	readonly idempotencyKey?: string;
	readonly signal: AbortSignal;
}

/** Starts the run of a call, or finds the one that an earlier attempt started. */
export async function beginCall(service: SessionService, call: AgentCall): Promise<TaskPlace> {
	const { caller, tool, idempotencyKey, signal } = call;
	const { prompt, session } = readParams(call);
	const id = idempotencyKey === undefined ? uuid() : digest(idempotencyKey);
	const sessionId = session ?? sessionIdOf(tool, id);
	if (session !== undefined && (await service.get(caller, session)) === undefined)
		throw wrong(`There is no session ${JSON.stringify(session)}.`);
	const submitted = await service.submit(
		caller,
		sessionId,
		{ input: prompt, context: {} },
		idempotencyKey === undefined ? {} : { idempotencyKey },
	);
	return { sessionId, after: await beginOf(submitted, signal), createdAt: Date.now() };
}

/** Returns where the events of a run start if it may have to wait for another run. */
async function beginOf({ begun, after }: Submitted, signal: AbortSignal): Promise<string> {
	if (begun === undefined) return after;
	const begins = await begun(signal);
	signal.throwIfAborted();
	return begins ?? after;
}

/** An ended run waits here for answers to its background tasks, because there is no way to ask after the call. */
export function askingView(view: RunView): RunView {
	const { background = [], pending = [] } = view;
	return background.length === 0
		? view
		: { ...view, status: "input_required", pending: [...pending, ...background] };
}

/** Returns the result of an ended run for the client. */
export function resultOf(
	{ status, text, output, error, background = [] }: RunView,
	sessionId: string,
): CallToolResult {
	const _meta = { [sessionMember]: sessionId };
	if (background.length > 0) {
		const names = background.map(({ name }) => name).join(", ");
		const waits = `Background tasks wait for an answer to ${names}. The session is ${sessionId}.`;
		const result = resultOf(
			{
				status,
				text,
				...(output === undefined ? {} : { output }),
				...(error === undefined ? {} : { error }),
			},
			sessionId,
		);
		return { ...result, content: [...result.content, { type: "text", text: waits }] };
	}
	if (status === "input_required") {
		// The strategy waits for a message, which is the next call.
		const asks = text === "" ? `It waits for a message: call it with the session ${sessionId}.` : text;
		return { content: [{ type: "text", text: asks }], _meta };
	}
	if (status === "completed") {
		const isData = typeof output === "object" && output !== null && !Array.isArray(output);
		return {
			content: [{ type: "text", text }],
			...(isData ? { structuredContent: output as Record<string, unknown> } : {}),
			_meta,
		};
	}
	const why = error?.message ?? (status === "cancelled" ? "It was stopped." : "It failed.");
	return { content: [{ type: "text", text: why }], isError: true, _meta };
}

/** Returns the questions to the user for pending calls: for an approval, or for a result. */
export function questionsOf(pending: readonly PendingSessionCall[]): InputRequests {
	return Object.fromEntries(
		pending.map(({ id, name, arguments: input, approval }) => {
			const shown = `${name}(${JSON.stringify(input)})`;
			const message =
				approval === true ? `Approve this call? ${shown}` : `What is the result of this? ${shown}`;
			const properties =
				approval === true
					? { approved: { type: "boolean" as const, title: "Approved" } }
					: { output: { type: "string" as const, title: "Result" } };
			const requestedSchema = {
				type: "object" as const,
				properties,
				required: Object.keys(properties),
			};
			return [id, { method: "elicitation/create", params: { mode: "form", message, requestedSchema } }];
		}),
	) as InputRequests;
}

/**
 * Passes the user's answers to a run. If the user gave none, the call is denied or fails; calls without a question stay
 * pending.
 */
export async function answerCalls(
	service: SessionService,
	caller: ServedCaller,
	sessionId: string,
	responses: Readonly<Record<string, unknown>>,
): Promise<void> {
	const { pendingToolCalls = [], backgroundToolCalls = [] } = (await service.get(caller, sessionId)) ?? {};
	const input = [...pendingToolCalls, ...backgroundToolCalls].flatMap(({ id, runId, approval }): object[] => {
		const given = Object.hasOwn(responses, id) ? (responses[id] as Partial<ElicitResult> | null) : undefined;
		if (given === undefined || given === null) return [];
		const content = given.action === "accept" ? (given.content ?? {}) : {};
		const about = { toolCallId: id, ...(runId === undefined ? {} : { runId }) };
		if (approval === true) return [{ role: "approval", ...about, approved: content.approved === true }];
		const { output } = content;
		return [
			typeof output === "string"
				? { role: "tool", ...about, output }
				: { role: "tool", ...about, output: "No result was given.", isError: true },
		];
	});
	if (input.length > 0) await service.submit(caller, sessionId, { input });
}

function readParams({ tool, params = {} }: AgentCall): {
	readonly prompt: string;
	readonly session?: string;
} {
	const { prompt, session } = params;
	if (typeof prompt !== "string" || prompt === "") throw wrong("`prompt` must be text.");
	if (session === undefined) return { prompt };
	if (typeof session !== "string" || toolOfSession(session) !== tool)
		throw wrong(`\`session\` must be one that a result of "${tool}" named.`);
	return { prompt, session };
}

function wrong(message: string): ProtocolError {
	return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}

function digest(text: string): string {
	return createHash("sha256").update(text).digest("hex").slice(0, 32);
}
