// The arguments of an execution, and how it starts.

import { ClientError } from "../errors/index.ts";
import { type Approve, type ClientTool, createAnswerer, describeTool, readTools } from "../tools/index.ts";
import {
	checkNames,
	type EventConnection,
	followSession,
	type Kind,
	randomKey,
	type Settings,
} from "../transport/index.ts";
import type { ExecuteContext, ExecuteInput, ModelOptions } from "../wire/index.ts";
import { createExecuteStream, type ExecuteStream } from "./execute-stream.ts";
import { runRounds } from "./rounds.ts";
import { createTally } from "./tally.ts";

/** Options of `client.execute`. */
export interface ExecuteRequest {
	/** The session; if absent, the server creates a new one. */
	readonly sessionId?: string;
	/** A user message, or answers to pending calls. A string is a user message. */
	readonly input: string | ExecuteInput;
	/**
	 * The context of a new session; required with your own `sessionId`, ignored for an existing session. The server
	 * decides which members clients may set; by default none. It refuses others with `field_not_allowed`.
	 */
	readonly context?: ExecuteContext;
	/**
	 * Tools that run here when the model calls them. Default: none, and the stream ends when it waits for an answer. A
	 * new session receives their descriptions, if the server allows clients to bring tools.
	 */
	readonly tools?: readonly ClientTool[];
	/** Called for calls that require approval. Default: such calls stay open. */
	readonly approve?: Approve;
	/**
	 * How to treat calls of tools that are not among `tools`. Default "refuse": they are answered with an error, so that
	 * the session does not hang; use "leave" for sessions in which other clients run other tools.
	 */
	readonly unknownTools?: "refuse" | "leave";
	/** Options of the model, from this execution on. */
	readonly options?: ModelOptions;
	/**
	 * The same request with the same key starts one execution, however often it is sent. Default: a new key, which covers
	 * retries by the client itself. Pass your own, 1 to 200 visible ASCII characters, to repeat a request after your
	 * program was restarted.
	 */
	readonly idempotencyKey?: string;
	/** Disconnects. The session continues on the server; `client.stop` ends it. */
	readonly signal?: AbortSignal;
}

const requestNames: Readonly<Record<keyof ExecuteRequest, Kind>> = {
	sessionId: "string",
	input: true,
	context: "object",
	tools: "object",
	approve: "function",
	unknownTools: "string",
	options: "object",
	idempotencyKey: true,
	signal: "object",
};

/** Leaves room for the suffixes of later rounds; the server accepts 255 characters. */
const keyPattern = /^[\x21-\x7e]{1,200}$/;

/** @throws ClientError `invalid_option`, `invalid_tool`, `duplicate_tool`, `schema_not_convertible`. */
export function startExecution(settings: Settings, request: ExecuteRequest): ExecuteStream {
	checkNames(request, requestNames, "execute()");
	const { input, options, approve, unknownTools = "refuse", idempotencyKey } = request;
	const signal = request.signal ?? new AbortController().signal;
	if (idempotencyKey !== undefined && !keyPattern.test(idempotencyKey)) {
		throw new ClientError("invalid_option", "`idempotencyKey` must be 1 to 200 visible ASCII characters.");
	}
	const tools = request.tools === undefined ? undefined : readTools(request.tools);
	const tally = createTally();
	const body = {
		sessionId: request.sessionId,
		input: typeof input === "string" ? ({ role: "user", content: input } as const) : input,
		context: contextOf(request),
		options,
	};
	return createExecuteStream((name) => {
		let connection: EventConnection | undefined;
		const following = {
			settings,
			signal,
			onConnection(opened: EventConnection) {
				connection = opened;
				name(opened.sessionId);
			},
		};
		return {
			events: runRounds({
				following,
				body,
				idempotencyKey: idempotencyKey ?? randomKey(settings.timers),
				keyIsShared: idempotencyKey !== undefined,
				answerer: createAnswerer({ tools, approve, unknownTools, signal }),
				tally,
			}),
			reread: (sessionId, after) => followSession({ settings, signal }, sessionId, { after, follow: true }),
			result: (sessionId) => tally.result(sessionId),
			disconnect: () => connection?.close(),
			bufferCharacters: settings.bufferCharacters,
		};
	});
}

function contextOf({ sessionId, context, tools = [] }: ExecuteRequest): ExecuteContext | undefined {
	// Only a session that is certainly new gets a default context: for any other it would hide a deletion.
	if (context === undefined && sessionId !== undefined) return undefined;
	const declared = [...(context?.tools ?? []), ...tools.map(describeTool)];
	return { ...context, ...(declared.length === 0 ? {} : { tools: declared }) };
}
