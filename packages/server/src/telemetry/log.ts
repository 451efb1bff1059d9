// The log entries of requests: route, outcome and duration; and those of runs: cost and errors. Never a body, a key, a
// header or a query.
import type { StreamEnd } from "../streams/index.ts";

/** One request, logged when it is answered; a stream, when it has ended. */
export interface RequestLog {
	readonly type: "request";
	/** When the request arrived, in ISO 8601. */
	readonly time: string;
	/** The HTTP method. */
	readonly method: string;
	/** The route's pattern, such as `/api/agent/session/:id`; "none" if no route matches. */
	readonly route: string;
	/** HTTP status of the response. */
	readonly status: number;
	/** Code of the error in the response. */
	readonly code?: string;
	/** Milliseconds until the response, or until the end of a stream. */
	readonly durationMs: number;
	/** Tenant of the caller, if known. */
	readonly tenant?: string;
	/** User of the caller, if known. */
	readonly user?: string;
	/** The session that the request is about. */
	readonly sessionId?: string;
	/** Why the stream ended. */
	readonly stream?: StreamEnd;
	/** Number of bytes streamed. */
	readonly bytes?: number;
}

/** An error whose details the caller does not get. */
export interface ErrorLog {
	readonly type: "error";
	/** When it occurred, in ISO 8601. */
	readonly time: string;
	/** Name and code of the error, without its message, which may contain user data. */
	readonly name: string;
	/** Code of the error, if it has one. */
	readonly code?: string;
	/** Where it was raised. */
	readonly at: readonly string[];
}

/** The owner of a run. */
interface OfRun {
	/** In ISO 8601. */
	readonly time: string;
	/** The tenant of the session. */
	readonly tenant: string;
	/** The user of the session, if it belongs to one. */
	readonly user?: string;
	/** For a sub-agent's run, the session that it works for. */
	readonly sessionId: string;
	readonly runId: string;
}

/** A run has ended in this process, or waits. The sums cover this process's part of it. */
export interface RunLog extends OfRun {
	readonly type: "run";
	/** How it ended, or why it remains open. */
	readonly outcome: string;
	/** Code of the error that ended it. */
	readonly code?: string;
	/** Message of the error that ended it, without anything that looks like a key. */
	readonly error?: string;
	/** Number of answers that models gave. */
	readonly answers: number;
	/** Number of model calls that were retried. */
	readonly retries: number;
	/** Input tokens of the answers. */
	readonly inputTokens: number;
	/** Output tokens of the answers. */
	readonly outputTokens: number;
	/** US dollars; absent if the price of any answer is unknown. */
	readonly cost?: number;
}

/** A model call failed. The provider's message appears only here, where clients cannot see it. */
export interface ModelErrorLog extends OfRun {
	readonly type: "model_error";
	/** Id of the model. */
	readonly model: string;
	/** `retried`: the model is called again after `delayMs`. */
	readonly outcome: "failed" | "retried";
	/** Number of the failed attempt, if the model is called again. */
	readonly attempt?: number;
	/** Milliseconds until the next attempt. */
	readonly delayMs?: number;
	/** Code of the error. */
	readonly code: string;
	/** The provider's message, without anything that looks like a key; at most 1,000 characters. */
	readonly error: string;
	/** HTTP status of the provider's response. */
	readonly status?: number;
	/** The provider's id of the request. */
	readonly requestId?: string;
}

/** An entry of the log. `JSON.stringify(entry)` makes it one line. */
export type RequestLogEntry = RequestLog | RunLog | ModelErrorLog | ErrorLog;

/** Returns the entry for an error: its type and where it came from, without its message. */
export function errorEntry(error: unknown): ErrorLog {
	const { name = "unknown", code, stack = "" } = (error ?? {}) as Partial<Error> & { code?: unknown };
	return {
		type: "error",
		time: new Date().toISOString(),
		name,
		...(typeof code === "string" ? { code } : {}),
		at: stack
			.split("\n")
			.filter((line) => /^\s+at /.test(line))
			.slice(0, 8)
			.map((line) => line.trim()),
	};
}
