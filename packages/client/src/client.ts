// The client: the function of the entry point, built from settings and routes.

import type { ExecuteStream } from "./execute/index.ts";
import { type ExecuteRequest, startExecution } from "./execute/index.ts";
import {
	type ClientOptions,
	checkNames,
	deleteSession,
	followSession,
	getSession,
	listSessions,
	randomKey,
	readOptions,
	sendAnswers,
	stopSession,
} from "./transport/index.ts";
import type { Answer, LoggedEvent, SessionInfo, SessionPage, ToolTypes } from "./wire/index.ts";

const watchNames: Readonly<Record<keyof WatchOptions, true>> = { after: true, follow: true, signal: true };
const pageNames = { after: true, limit: true } as const;

/** What `client.watch` takes. */
export interface WatchOptions {
	/** The id of the last event that is known. Default: from the first event that the server keeps. */
	readonly after?: string;
	/** Whether to wait for further executions. Default `false`: ends with the last one. */
	readonly follow?: boolean;
	/** Disconnects. */
	readonly signal?: AbortSignal;
}

/** A client of one server. It holds no connection but those of its streams. */
export interface Client<Output = unknown, Tools = ToolTypes> {
	/** Starts an execution at once, follows it over every reconnect, and carries out the calls of `tools`. */
	execute(request: ExecuteRequest): ExecuteStream<Output, Tools>;
	/** The session with its history. @throws ClientError `session_not_found`. */
	session(sessionId: string): Promise<SessionInfo>;
	/** A page of the sessions; `limit` at most. */
	sessions(page?: { readonly after?: string; readonly limit?: number }): Promise<SessionPage>;
	/** Stops what the session is doing. Harmless when it does nothing. @throws ClientError `session_not_found`. */
	stop(sessionId: string): Promise<{ readonly stopped: boolean }>;
	/** Ends what the session does and removes all of it. @throws ClientError `session_not_found`. */
	delete(sessionId: string): Promise<void>;
	/**
	 * The events of a session, each once, in order, over every reconnect.
	 *
	 * @throws ClientError `session_not_found`; `events_expired` when some of them are no longer kept.
	 */
	watch(sessionId: string, options?: WatchOptions): AsyncIterable<LoggedEvent>;
	/** Lets a call run that waits for approval. Done when the server has stored it. */
	approve(sessionId: string, toolCallId: string): Promise<void>;
	/** Refuses a call that waits for approval; the model sees the reason. */
	deny(sessionId: string, toolCallId: string, reason?: string): Promise<void>;
	/** Hands in answers to pending calls. Done when the server has stored them; `watch` shows what follows. */
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

/** The type after transport as JSON: dates are text. */
type AsJson<Value> = unknown extends Value
	? Value
	: Value extends { toJSON(): infer Written }
		? Written
		: Value extends object
			? { [Name in keyof Value]: AsJson<Value[Name]> }
			: Value;

/**
 * Makes a client of a Holdfast server. With the type of the server's agent, results and events have the types of its output
 * and of its tools.
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
