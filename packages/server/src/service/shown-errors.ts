// What clients are shown of the error that a run ended with. Messages of providers, and of whatever else threw, may name keys,
// accounts, addresses and files: they go to the log, and clients get words of ours beside the code.
import { failureText } from "holdfast/execute";

/** An error of a run. */
export interface RunError {
	readonly code: string;
	readonly message: string;
}

/** Codes whose messages are ours and quote nobody. */
const ours: ReadonlySet<string> = new Set([
	"budget_exceeded",
	"content_filtered",
	"interrupted",
	"max_steps_exceeded",
	"policy_refused",
	"session_killed",
]);

/** The error as clients are shown it; `own` has words for errors of the application's own. */
export function shownError(
	own: ((error: RunError) => string | undefined) | undefined,
): (error: RunError) => RunError {
	return (error) => {
		const { code } = error;
		const text = ours.has(code) ? error.message : own?.(error);
		return { code, message: text ?? failureText(code) ?? "The run failed. See the server's log." };
	};
}
