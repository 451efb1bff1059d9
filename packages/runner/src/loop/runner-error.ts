// Errors of a run as data and back.
import { HoldfastError } from "@holdfast/upp";
import type { ResultError } from "../contract/index.ts";

/** What a run ends with. */
export function runnerError({ message, code = "RUN_FAILED", info }: ResultError): HoldfastError {
	const data = typeof info === "object" && info !== null ? { data: info as Record<string, unknown> } : {};
	return new HoldfastError(code, message, data);
}
