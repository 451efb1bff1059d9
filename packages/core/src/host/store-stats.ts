// Statistics of a store for its operators.

/** The backlog of a store, and this process's work on it. */
export interface StoreStats {
	/** Due sessions without an owner in the whole store, counted up to 100,000. */
	readonly queued: number;
	/** Milliseconds for which the oldest of them has been due; 0 if there is none. */
	readonly oldestDueMs: number;
	/** Number of sessions whose lease this process holds. */
	readonly leases: number;
	/**
	 * Number of runs that this process has taken over since it started, from a worker that was dead or disconnected for
	 * too long.
	 */
	readonly takeovers: number;
	/** Number of session transactions that this process has committed since it started. */
	readonly commits: number;
}
