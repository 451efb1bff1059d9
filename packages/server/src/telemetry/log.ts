// What is logged of a request: which route, how it ended, how long it took. Never a body, a key, a header, a query or a
// text of the conversation.
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
	/** Name and code of the error, without its text, which may quote what was said. */
	readonly name: string;
	readonly code?: string;
	/** Where it was raised. */
	readonly at: readonly string[];
}

/** A line of the log. `JSON.stringify(entry)` makes it one line. */
export type LogEntry = RequestLog | ErrorLog;

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
