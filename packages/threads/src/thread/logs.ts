// The log entries of threads for operators.

/** An entry of the log. */
export interface ThreadLog {
	/** The thread that it is about. */
	readonly threadId: string;
	/** The severity. */
	readonly level: "info" | "warn" | "error";
	/** The subject: `hook`, `model`, `request`, `provider-tool`, `turn`, `subagent`. */
	readonly topic: string;
	/** The text of the entry. */
	readonly message: string;
	/** Plain data. */
	readonly data?: unknown;
}

/** Receives the entries. Must not throw. */
export type ThreadLogger = (entry: ThreadLog) => void;
