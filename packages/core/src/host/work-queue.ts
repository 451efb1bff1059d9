// A work queue: a store that hands out the sessions with due work, so that no scan is needed.

/** Who takes work. */
export interface WorkTaker {
	/** Sessions at most that are handed to it at once. */
	readonly atOnce: number;
	/** Whether this process handles the session with that key; others are left to other processes. */
	isOurs(key: string): boolean;
	/**
	 * Does what there is to do in a session. The queue hands out no more than `atOnce` until this settles; when it rejects,
	 * the session is handed out again later, and less and less often. `not-ours`: its key alone did not say so, and it is for
	 * other processes.
	 */
	work(key: string): Promise<"not-ours" | undefined>;
}

/**
 * Hands out sessions: those with a new input that no worker waits for, whose deadline has come, that were given up, or whose
 * worker died. At least once each time; a session that is handed out and has nothing to do is no fault.
 */
export interface WorkQueue {
	/** Begins to take, and resolves when what comes from now on is handed out. Rejects as the store does. */
	take(taker: WorkTaker): Promise<{
		/** Takes no more, and resolves when what was handed out is settled. */
		stop(): Promise<void>;
	}>;
}
