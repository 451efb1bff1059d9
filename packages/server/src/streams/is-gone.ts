// What a service rejects with when a session that was there a moment ago is deleted, or is another one under the same id.
import { isHoldfastError } from "holdfast";

export function isGone(error: unknown): boolean {
	return isHoldfastError(error) && (error.code === "session_not_found" || error.code === "invalid_event_id");
}
