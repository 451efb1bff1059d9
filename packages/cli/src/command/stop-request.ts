/** The request to stop: Ctrl-C or SIGTERM. */
import type { CommandIo } from "../terminal/index.ts";
import { ending, exitCodes } from "../work/index.ts";

/** A request to stop, awaited. */
export interface StopRequest {
	/** Resolves with the first signal. */
	readonly made: Promise<void>;
	/** Listens no longer. */
	ignore(): void;
}

/**
 * Waits for the first signal; a second one quits at once. Committed work stays, and is resumed when a server starts
 * again. `drain` is the time limit, in milliseconds, for running work after the first.
 */
export function stopRequest(io: CommandIo, drain: number): StopRequest {
	const made = Promise.withResolvers<void>();
	let signals = 0;
	const ignore = io.onInterrupt(() => {
		signals++;
		if (signals > 1) io.quit(exitCodes.interrupted);
		made.resolve();
	}, ending(drain));
	return { made: made.promise, ignore };
}
