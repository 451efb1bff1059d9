// The error of a model call: whether another provider may succeed, and its message.
import { messageOf } from "@holdfast/upp";
import type { ResultError } from "../contract/index.ts";

/** A failed call. */
export interface ModelFailure {
	readonly error: ResultError;
	readonly retriable: boolean;
	/** Milliseconds that the provider asks clients to wait. */
	readonly retryAfterMs?: number;
}

/** Codes of the model layer for which no provider answered. */
const unavailable: ReadonlySet<string> = new Set(["NETWORK_ERROR"]);

/** Reads an error that a client threw. */
export function readFailure(thrown: unknown): ModelFailure {
	const given = (typeof thrown === "object" && thrown !== null ? thrown : {}) as Record<string, unknown>;
	const { code, retriable, retryable, retryAfterMs } = given;
	const known = typeof code === "string" && code !== "" ? code : "MODEL_FAILED";
	const message = messageOf(thrown);
	return {
		error: { code: unavailable.has(known) ? "MODEL_UNAVAILABLE" : known, message },
		retriable: retriable === true || retryable === true,
		...(typeof retryAfterMs === "number" && retryAfterMs > 0 ? { retryAfterMs } : {}),
	};
}
