// Errors for threads that do not exist or accept no more work.
import { HoldfastError } from "holdfast";

/** Returns the error for a thread that does not exist. */
export function threadNotFound(threadId: string): HoldfastError {
	return new HoldfastError("thread_not_found", `There is no thread ${JSON.stringify(threadId)}.`, {
		data: { threadId },
	});
}

/** Returns the error for a terminated thread. */
export function threadTerminated(threadId: string): HoldfastError {
	return new HoldfastError(
		"thread_terminated",
		`The thread ${JSON.stringify(threadId)} was terminated. Create another one.`,
		{ data: { threadId } },
	);
}
