import type { Ending } from "../terminal/index.ts";

/** An invalid command line: one line for the user, exit code 2. */
export class UsageError extends Error {}

/** The exit codes of the command. */
export const exitCodes = {
	completed: 0,
	failed: 1,
	usage: 2,
	/** Interrupted; the run can be resumed. */
	interrupted: 3,
	/** Calls wait for approval. */
	waiting: 4,
	/** The model is unreachable or overloaded: the run that waits for it can be resumed. */
	unavailable: 5,
} as const;

/** A command ends within a second of a signal, plus `drain` milliseconds for work in flight. */
export function ending(drain = 0): Ending {
	return { within: drain + 1_000, code: exitCodes.interrupted };
}
