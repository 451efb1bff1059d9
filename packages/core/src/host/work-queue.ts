// A work queue: a store that hands out the sessions with due work, so that no scan is needed.

/** A taker of work. */
export interface WorkTaker {
	/** Sessions at most that are handed to it at once. */
	readonly atOnce: number;
	/** Whether this process handles the session with that key; others are left to other processes. */
	isOurs(key: string): boolean;
	/**
	 * Runs the due work of a session. The queue hands out no more than `atOnce` until this settles; when it rejects, the
	 * session is handed out again later, and less and less often. `not-ours`: the session is for other processes, which
	 * its key alone did not show.
	 */
	work(key: string): Promise<"not-ours" | undefined>;
}

/**
 * Hands out sessions: those with a new input that no worker waits for, with a passed deadline, that were released, or
 * whose worker died. At least once each time; a session without due work is harmless.
 */
export interface WorkQueue {
	/** Starts taking work, and resolves when new work is handed out. Rejects as the store does. */
	take(taker: WorkTaker): Promise<{
		/** Takes no more work, and resolves when everything handed out is settled. */
		stop(): Promise<void>;
	}>;
}
