// Runs user functions that a run waits for. While one is running, it is known to belong to the run, so it gets an error
// if it waits for the run in turn (keeps I8).
import { withinCall } from "./call-scope.ts";
import type { Run } from "./run.ts";

/** Returns the function's result. Rejects with `Stopped` as soon as the run is asked to stop. */
export function untilAnswered<T>(run: Run, ask: () => T | PromiseLike<T>): Promise<T> {
	return run.untilStopped(withinCall(run.processKey, ask));
}
