/** Waits for a request to stop: Ctrl-C or SIGTERM. */
import type { CommandIo } from "../terminal/index.ts";
import { ending, exitCodes } from "../work/index.ts";

/** A pending request to stop. */
export interface StopRequest {
	/** Resolves on the first signal. */
	readonly made: Promise<void>;
	/** Stops listening. */
	ignore(): void;
}

/**
 * Waits for the first signal; a second one quits at once. Committed work stays and is resumed by the next server. `drain`
 * limits how long running work may continue after the first signal, in milliseconds.
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
