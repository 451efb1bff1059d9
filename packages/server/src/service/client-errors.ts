// Errors of the service for requests that cannot be served.
import { cutText } from "@holdfast/upp";
import { HoldfastError, isHoldfastError } from "holdfast";
import { servedKeys } from "./served-key.ts";

/** The request cannot be executed. */
export function invalidInput(field: string, why: string): HoldfastError {
	return new HoldfastError("invalid_input", `\`${field}\` ${why}.`, { data: { field } });
}

/** The session does not exist, or was deleted. */
export function sessionNotFound(): HoldfastError {
	return new HoldfastError("session_not_found", "Session not found");
}

/** Only a session that exists can be continued without a context. */
export function contextRequired(): HoldfastError {
	return new HoldfastError("context_required", "Context required for new session");
}

/** The key was used for another request. */
export function idempotencyKeyReused(): HoldfastError {
	return new HoldfastError(
		"idempotency_key_reused",
		"This idempotency key was used for another request. Use a new key for each request.",
	);
}

/** Returns an error of a session with the id that its caller uses for the session. */
export function forCaller(error: unknown, sessionKey: string, sessionId: string): unknown {
	if (!isHoldfastError(error)) return error;
	const storeKey = servedKeys.storeKeyOf(sessionKey);
	// Errors of the store name its key, cut if it is long.
	const stored = JSON.stringify(storeKey.length > 80 ? `${cutText(storeKey, 77)}...` : storeKey);
	const message = error.message
		.replaceAll(`"${sessionKey}"`, `"${sessionId}"`)
		.replaceAll(stored, `"${sessionId}"`);
	if (message === error.message) return error;
	const { retryable, data, cause } = error;
	const isNamed = data?.key === sessionKey || data?.key === storeKey;
	return new HoldfastError(error.code, message, {
		retryable,
		cause,
		...(data === undefined ? {} : { data: isNamed ? { ...data, key: sessionId } : data }),
	});
}

/** Returns the code of an error, if it has one. */
export function codeOf(error: unknown): unknown {
	return (error as { code?: unknown } | null)?.code;
}

/** Whether an error means that the session was deleted during the request. */
export function isGone(error: unknown): boolean {
	const code = codeOf(error);
	return code === "session_killed" || code === "session_not_found";
}
