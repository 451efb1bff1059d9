// The errors of a service if a session that existed a moment ago was deleted, or replaced under the same id.
import { isHoldfastError } from "holdfast";

export function isGone(error: unknown): boolean {
	return isHoldfastError(error) && (error.code === "session_not_found" || error.code === "invalid_event_id");
}
