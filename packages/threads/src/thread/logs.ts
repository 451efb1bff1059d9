// Events of threads that operators need to see in the log.

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

/** Gets them. Must not throw. */
export type ThreadLogger = (entry: ThreadLog) => void;
