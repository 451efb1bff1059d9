// The errors of runs as clients see them. Messages of providers, and of other code that throws, may name keys, accounts,
// addresses and files: they go to the log, and clients get a text from this module with the code.
import { failureText } from "holdfast/execute";

/** An error of a run. */
export interface RunError {
	readonly code: string;
	readonly message: string;
}

/** Codes whose messages are safe and quote no other source. */
const ours: ReadonlySet<string> = new Set([
	"budget_exceeded",
	"content_filtered",
	"interrupted",
	"max_steps_exceeded",
	"policy_refused",
	"session_killed",
]);

/** Texts for codes whose messages may quote the input or other data. */
const texts: Readonly<Record<string, string>> = {
	invalid_input: "The run rejected its input. Send an input that matches its schema.",
};

/** Returns the error in the form that clients see; `own` converts errors of the application. */
export function shownError(
	own: ((error: RunError) => string | undefined) | undefined,
): (error: RunError) => RunError {
	return (error) => {
		const { code } = error;
		const text = ours.has(code) ? error.message : own?.(error);
		return {
			code,
			message: text ?? failureText(code) ?? texts[code] ?? "The run failed. See the server's log.",
		};
	};
}
