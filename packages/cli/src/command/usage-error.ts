/** A command line that cannot be carried out as it is written: one line for the user, exit code 2. */
export class UsageError extends Error {}

/** How the command exits. */
export const exitCodes = {
	completed: 0,
	failed: 1,
	usage: 2,
	/** Interrupted, and to be resumed. */
	interrupted: 3,
	/** Calls wait for approval. */
	waiting: 4,
} as const;
