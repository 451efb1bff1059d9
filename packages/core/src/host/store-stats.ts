// Statistics of a store for its operators.

/** The backlog of a store, and this process's work on it. */
export interface StoreStats {
	/** Due sessions without an owner in the whole store, counted up to 100,000. */
	readonly queued: number;
	/** Milliseconds for which the oldest of them has been due; 0 without one. */
	readonly oldestDueMs: number;
	/** Sessions whose lease this process has. */
	readonly leases: number;
	/**
	 * Runs that this process has taken over from a worker that was dead, or disconnected for too long, since it started.
	 */
	readonly takeovers: number;
	/** Transactions of sessions that this process has committed since it started. */
	readonly commits: number;
}
