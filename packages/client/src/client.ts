// The client: the function of the entry point, built from settings and routes.

import type { ExecuteStream } from "./execute/index.ts";
import { type ExecuteRequest, startExecution } from "./execute/index.ts";
import {
	type ClientOptions,
	checkNames,
	deleteSession,
	followSession,
	getSession,
	type Kind,
	listSessions,
	randomKey,
	readOptions,
	sendAnswers,
	stopSession,
} from "./transport/index.ts";
import type { Answer, LoggedEvent, SessionInfo, SessionPage, ToolTypes } from "./wire/index.ts";

const watchNames: Readonly<Record<keyof WatchOptions, Kind>> = {
	after: "string",
	follow: "boolean",
	signal: "object",
};
const pageNames = { after: "string", limit: true } as const;

/** Options of `client.watch`. */
export interface WatchOptions {
	/** The id of the last known event. Default: from the first event that the server keeps. */
	readonly after?: string;
	/** Whether to wait for further executions. Default `false`: ends with the last one. */
	readonly follow?: boolean;
	/** Disconnects. */
	readonly signal?: AbortSignal;
}

/** A client of one server. It keeps no connections open except those of its streams. */
export interface Client<Output = unknown, Tools = ToolTypes> {
	/** Starts an execution at once, follows it across reconnects, and executes the calls to `tools`. */
	execute(request: ExecuteRequest): ExecuteStream<Output, Tools>;
	/** Returns the session with its history. @throws ClientError `session_not_found`. */
	session(sessionId: string): Promise<SessionInfo>;
	/** Returns a page of sessions, at most `limit`. */
	sessions(page?: { readonly after?: string; readonly limit?: number }): Promise<SessionPage>;
	/** Stops the session's activity. Harmless if it is idle. @throws ClientError `session_not_found`. */
	stop(sessionId: string): Promise<{ readonly stopped: boolean }>;
	/** Stops the session's activity and deletes the session. @throws ClientError `session_not_found`. */
	delete(sessionId: string): Promise<void>;
	/**
	 * Yields the events of a session, each once, in order, across reconnects.
	 *
	 * @throws ClientError `session_not_found`; `events_expired` if some of them are no longer kept.
	 */
	watch(sessionId: string, options?: WatchOptions): AsyncIterable<LoggedEvent>;
	/** Approves a waiting call. Resolves when the server has stored the approval. */
	approve(sessionId: string, toolCallId: string): Promise<void>;
	/** Denies a call that waits for approval; the model sees the reason. Resolves when the server has stored it. */
	deny(sessionId: string, toolCallId: string, reason?: string): Promise<void>;
	/** Sends answers to pending calls. Resolves when the server has stored them; `watch` shows the events that follow. */
	answer(sessionId: string, answers: readonly Answer[]): Promise<void>;
}

/** The inferred parts of an agent's type: `createClient<typeof clerk>(…)`, with `clerk` imported as a type. */
export interface TypedAgent {
	readonly "~types"?: { readonly tools: unknown; readonly output: unknown } | undefined;
}

type OutputOf<Agent> = Agent extends { readonly "~types"?: { readonly output: infer Output } | undefined }
	? AsJson<Output>
	: unknown;
type ToolsOf<Agent> = Agent extends { readonly "~types"?: { readonly tools: infer Tools } | undefined }
	? unknown extends Tools
		? ToolTypes
		: Tools
	: ToolTypes;

/** The type after transport as JSON: dates become strings. */
type AsJson<Value> = unknown extends Value
	? Value
	: Value extends { toJSON(): infer Written }
		? Written
		: Value extends object
			? { [Name in keyof Value]: AsJson<Value[Name]> }
			: Value;

/**
 * Creates a client of a Holdfast server. With the type of the server's agent, results and events have the types of its
 * output and of its tools.
 *
 * @throws ClientError `invalid_option`.
 * @example
 * const client = createClient({ url: "https://agents.example" });
 * const stream = client.execute({ input: "Hello" });
 * for await (const event of stream) {
 * 	if (event.type === "text_delta") console.log(event.delta);
 * }
 * const { status, sessionId } = await stream.result();
 * console.log(status, sessionId);
 */
export function createClient<Agent extends TypedAgent = TypedAgent>(
	options: ClientOptions,
): Client<OutputOf<Agent>, ToolsOf<Agent>> {
	const settings = readOptions(options);
	const answer = (sessionId: string, answers: readonly Answer[]): Promise<void> =>
		sendAnswers(settings, sessionId, answers, randomKey(settings.timers));

	return {
		execute: (request) =>
			startExecution(settings, request) as unknown as ExecuteStream<OutputOf<Agent>, ToolsOf<Agent>>,
		session: (sessionId) => getSession(settings, sessionId),
		async sessions(page = {}) {
			checkNames(page, pageNames, "sessions()");
			return listSessions(settings, page);
		},
		stop: (sessionId) => stopSession(settings, sessionId),
		delete: (sessionId) => deleteSession(settings, sessionId),
		async *watch(sessionId, options = {}) {
			checkNames(options, watchNames, "watch()");
			const { after, follow = false, signal } = options;
			for await (const { id, event } of followSession({ settings, signal }, sessionId, { after, follow })) {
				yield { id, event };
			}
		},
		approve: (sessionId, toolCallId) => answer(sessionId, [{ role: "approval", toolCallId, approved: true }]),
		deny: (sessionId, toolCallId, reason) =>
			answer(sessionId, [
				{ role: "approval", toolCallId, approved: false, ...(reason === undefined ? {} : { reason }) },
			]),
		answer,
	};
}
