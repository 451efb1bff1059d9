// The error of a thread that is not there.
import { HoldfastError } from "holdfast";

/** The error of a thread that is not there. */
export function threadNotFound(threadId: string): HoldfastError {
	return new HoldfastError("thread_not_found", `There is no thread ${JSON.stringify(threadId)}.`, {
		data: { threadId },
	});
}
