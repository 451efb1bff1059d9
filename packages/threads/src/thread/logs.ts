// The log entries of threads for operators.

/** An entry of the log. */
export interface ThreadLog {
	readonly threadId: string;
	readonly level: "info" | "warn" | "error";
	/** The subject: `hook`, `model`, `request`, `provider-tool`, `turn`, `subagent`. */
	readonly topic: string;
	readonly message: string;
	/** Plain data. */
	readonly data?: unknown;
}

/** Receives the entries. Must not throw. */
export type ThreadLogger = (entry: ThreadLog) => void;
