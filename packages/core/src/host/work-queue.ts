// A work queue: a store that hands out the sessions with due work, so that no scan is needed.

/** A consumer of work. */
export interface WorkTaker {
	/** The maximum number of sessions handed out to it at once. */
	readonly atOnce: number;
	/** Whether this process handles the session with this key. Others are left to other processes. */
	isOurs(key: string): boolean;
	/**
	 * Runs the due work of a session. The queue hands out no more than `atOnce` sessions until this settles. If it
	 * rejects, the session is handed out again later, with increasing delays. `not-ours`: other processes handle the
	 * session, which could not be determined from its key alone.
	 */
	work(key: string): Promise<"not-ours" | undefined>;
}

/**
 * Hands out sessions with due work: those with a new input that no worker waits for, those with a passed deadline, those
 * that were released, and those whose worker died. Each is handed out at least once, so a session may turn out to have no
 * due work.
 */
export interface WorkQueue {
	/** Starts taking work. Resolves when new work is handed out. Rejects with errors of the store. */
	take(taker: WorkTaker): Promise<{
		/** Stops taking work. Resolves when everything handed out is settled. */
		stop(): Promise<void>;
	}>;
}
