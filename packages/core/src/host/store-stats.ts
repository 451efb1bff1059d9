// Numbers of a store for those who look after it.

/** How much waits in a store, and what this process has done there. */
export interface StoreStats {
	/** Due sessions without an owner in the whole store, counted up to 100,000. */
	readonly queued: number;
	/** Milliseconds for which the oldest of them has been due; 0 without one. */
	readonly oldestDueMs: number;
	/** Sessions whose lease this process has. */
	readonly leases: number;
	/** Runs this process has taken from a worker that was dead, or cut off for too long, since it began. */
	readonly takeovers: number;
	/** Transactions of sessions that this process has committed since it began. */
	readonly commits: number;
}
