// Converts errors of a run to data and back.
import { HoldfastError } from "@holdfast/upp";
import type { ResultError } from "../contract/index.ts";

/** Returns the error that ends a run. */
export function runnerError(given: ResultError): HoldfastError {
	const { message, info } = given;
	const failure = { code: "RUN_FAILED", ...given };
	const data = typeof info === "object" && info !== null ? { data: info as Record<string, unknown> } : {};
	return new HoldfastError(failure.code, message, data);
}
