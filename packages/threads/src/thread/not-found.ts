// Errors for threads that do not exist or accept no more work.
import { HoldfastError } from "holdfast";

/** The error of a thread that is not there. */
export function threadNotFound(threadId: string): HoldfastError {
	return new HoldfastError("thread_not_found", `There is no thread ${JSON.stringify(threadId)}.`, {
		data: { threadId },
	});
}

/** The error of a thread that was terminated. */
export function threadTerminated(threadId: string): HoldfastError {
	return new HoldfastError(
		"thread_terminated",
		`The thread ${JSON.stringify(threadId)} was terminated. Make another one.`,
		{ data: { threadId } },
	);
}
