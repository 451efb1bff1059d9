// Functions of the caller's for which a run waits: while one works it is known to belong to the run, so that it gets an error
// when it waits for the run in turn (keeps I8).
import { withinCall } from "./call-scope.ts";
import type { Run } from "./run.ts";

/** The function's result, or `Stopped` as soon as the run is asked to stop. */
export function untilAnswered<T>(run: Run, ask: () => T | PromiseLike<T>): Promise<T> {
	return run.untilStopped(withinCall(run.processKey, ask));
}
