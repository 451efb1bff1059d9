// Runs user functions that a run waits for. While one is running, it is registered as part of the run. If it then waits
// for the run itself, it gets an error (keeps I8).
import { withinCall } from "./call-scope.ts";
import type { Run } from "./run.ts";

/** Returns the function's result. Rejects with `Stopped` as soon as the run is asked to stop. */
export function untilAnswered<T>(run: Run, ask: () => T | PromiseLike<T>): Promise<T> {
	return run.untilStopped(withinCall(run.processKey, ask));
}
