import type { Ending } from "../terminal/index.ts";

/** An invalid command line: one line for the user, exit code 2. */
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
	/** The model cannot be reached, or is busy: a run that waits for it is to be resumed. */
	unavailable: 5,
} as const;

/** A command ends within a second of a signal, and of the milliseconds that it gives the work under way. */
export function ending(drain = 0): Ending {
	return { within: drain + 1_000, code: exitCodes.interrupted };
}
