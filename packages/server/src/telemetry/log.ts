// The log entries of a request: its route, outcome and duration; and of runs their cost and errors. Never a body, a key,
// a header or a query.
import type { StreamEnd } from "../streams/index.ts";

/** One request, when it is answered; of a stream, when it has ended. */
export interface RequestLog {
	readonly type: "request";
	/** ISO 8601, when the request came. */
	readonly time: string;
	readonly method: string;
	/** The route's pattern, such as `/api/agent/session/:id`; "none" where no route fits. */
	readonly route: string;
	readonly status: number;
	/** Of the error that was answered. */
	readonly code?: string;
	readonly durationMs: number;
	readonly tenant?: string;
	readonly user?: string;
	readonly sessionId?: string;
	/** Why the stream ended. */
	readonly stream?: StreamEnd;
	/** Bytes of the stream. */
	readonly bytes?: number;
}

/** An error whose details the caller does not get. */
export interface ErrorLog {
	readonly type: "error";
	readonly time: string;
	/** Name and code of the error, without its message, which may quote content. */
	readonly name: string;
	readonly code?: string;
	/** Where it was raised. */
	readonly at: readonly string[];
}

/** Whose run it is. */
interface OfRun {
	/** ISO 8601. */
	readonly time: string;
	readonly tenant: string;
	readonly user?: string;
	/** Of a sub-agent's run, the session that its work is for. */
	readonly sessionId: string;
	readonly runId: string;
}

/** A run has ended in this process, or waits. The sums are those of this process's part of it. */
export interface RunLog extends OfRun {
	readonly type: "run";
	/** How it ended, or why it is left open. */
	readonly outcome: string;
	/** Code of the error that it ended with, and what that says. */
	readonly code?: string;
	readonly error?: string;
	/** Answers of models, and how often a model was asked again. */
	readonly answers: number;
	readonly retries: number;
	readonly inputTokens: number;
	readonly outputTokens: number;
	/** US dollars; absent where the price of any answer is not known. */
	readonly cost?: number;
}

/** A model call failed. The provider's message is here, and nowhere that clients can see. */
export interface ModelErrorLog extends OfRun {
	readonly type: "model_error";
	/** Id of the model. */
	readonly model: string;
	/** `retried`: it is asked again after `delayMs`. */
	readonly outcome: "failed" | "retried";
	readonly attempt?: number;
	readonly delayMs?: number;
	readonly code: string;
	/** The provider's message, without anything that looks like a key; at most 1,000 characters. */
	readonly error: string;
	/** HTTP status of its answer. */
	readonly status?: number;
	/** By what the provider knows the request. */
	readonly requestId?: string;
}

/** A line of the log. `JSON.stringify(entry)` makes it one line. */
export type RequestLogEntry = RequestLog | RunLog | ModelErrorLog | ErrorLog;

/** The entry for an error: what it is and where it came from, not what it says. */
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
