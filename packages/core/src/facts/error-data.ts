// Errors as data, for facts and events (keeps I9).
import { HoldfastError } from "@holdfast/upp";
import type { ErrorData } from "./fact.ts";

/** Converts an error, or any other value that was thrown, to data for facts and events. Never throws. */
export function errorData(error: unknown): ErrorData {
	try {
		if (error instanceof HoldfastError)
			return { code: error.code, message: error.message, retryable: error.retryable };
		const given = error as { code?: unknown; message?: unknown; retryable?: unknown } | undefined;
		const { code, message, retryable } = given ?? {};
		return {
			code: typeof code === "string" ? code : "run_failed",
			message: typeof message === "string" ? message : String(error),
			retryable: retryable === true,
		};
	} catch {
		const message = "A value was thrown that cannot be converted to text.";
		return { code: "run_failed", message, retryable: false };
	}
}
