// Errors as data, for facts and events (keeps I9).
import { HoldfastError } from "@holdfast/upp";
import type { ErrorData } from "./fact.ts";

/** Converts an error to data for facts and events. */
export function errorData(error: unknown): ErrorData {
	if (error instanceof HoldfastError)
		return { code: error.code, message: error.message, retryable: error.retryable };
	const given = error as { code?: unknown; message?: unknown; retryable?: unknown } | undefined;
	return {
		code: typeof given?.code === "string" ? given.code : "run_failed",
		message: typeof given?.message === "string" ? given.message : textOf(error),
		retryable: given?.retryable === true,
	};
}

function textOf(thrown: unknown): string {
	try {
		return String(thrown);
	} catch {
		return "A value was thrown that cannot be converted to text.";
	}
}
