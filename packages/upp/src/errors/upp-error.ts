// Errors of the model layer: one code for each way in which a model call can fail, independent of the provider.

import { HoldfastError } from "./holdfast-error.ts";

/** The codes of a UPPError. */
export const ErrorCode = {
	AUTHENTICATION_FAILED: "AUTHENTICATION_FAILED",
	RATE_LIMITED: "RATE_LIMITED",
	CONTEXT_LENGTH_EXCEEDED: "CONTEXT_LENGTH_EXCEEDED",
	MODEL_NOT_FOUND: "MODEL_NOT_FOUND",
	INVALID_REQUEST: "INVALID_REQUEST",
	INVALID_RESPONSE: "INVALID_RESPONSE",
	CONTENT_FILTERED: "CONTENT_FILTERED",
	QUOTA_EXCEEDED: "QUOTA_EXCEEDED",
	PROVIDER_ERROR: "PROVIDER_ERROR",
	NETWORK_ERROR: "NETWORK_ERROR",
	TIMEOUT: "TIMEOUT",
	CANCELLED: "CANCELLED",
} as const;

export type ErrorCode = (typeof ErrorCode)[keyof typeof ErrorCode];

/** The kind of model that was requested from a provider. */
export type Modality = "llm" | "embedding" | "image";

/** A failed model call. `retryable` follows from the code and the HTTP status. */
export class UPPError extends HoldfastError {
	/** How the call failed, independent of the provider. */
	declare readonly code: ErrorCode;
	/** Name of the provider, such as `openai`. */
	readonly provider: string;
	/** The kind of model that was called. */
	readonly modality: Modality;
	/** The HTTP status of the provider's response, if there was one. */
	declare readonly statusCode?: number;
	/** How long the provider asked to wait before a retry, in milliseconds. */
	declare retryAfterMs?: number;
	/** The provider's id of the request, if it sent one. Its support asks for this id. */
	declare requestId?: string;

	/** Creates an error; `retryable` is derived from the code and the HTTP status. */
	constructor(
		message: string,
		code: ErrorCode,
		provider: string,
		modality: Modality,
		statusCode?: number,
		cause?: unknown,
	) {
		super(code, message, {
			retryable: mayRetry(code, statusCode),
			...(cause === undefined ? {} : { cause }),
		});
		this.provider = provider;
		this.modality = modality;
		if (statusCode !== undefined) this.statusCode = statusCode;
	}
}

/** Whether a value is a UPPError, including one created by another installed copy of this package. */
export function isUPPError(value: unknown): value is UPPError {
	if (typeof value !== "object" || value === null) return false;
	const error = value as Partial<UPPError>;
	return typeof error.code === "string" && error.code in ErrorCode && typeof error.modality === "string";
}

function mayRetry(code: ErrorCode, statusCode: number | undefined): boolean {
	switch (code) {
		case "RATE_LIMITED":
		case "NETWORK_ERROR":
		case "TIMEOUT":
			return true;
		case "PROVIDER_ERROR":
			return statusCode !== undefined && (statusCode >= 500 || statusCode === 409);
		default:
			return false;
	}
}
