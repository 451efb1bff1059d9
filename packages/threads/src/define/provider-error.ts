// The error of providers.
import { HoldfastError } from "@holdfast/upp";
import type { ProviderErrorCode } from "../types/index.ts";

/** Codes of transient errors. */
const passing: readonly ProviderErrorCode[] = ["rate_limit", "server_error", "timeout"];

/** The error of a failed provider. If it is `retryable`, the model's fallbacks take over. */
export class ProviderError extends HoldfastError {
	/** How the request failed. */
	declare readonly code: ProviderErrorCode;
	/** The HTTP status of the provider's response. */
	readonly statusCode: number | undefined;
	/** Milliseconds after which the provider accepts a retry. */
	readonly retryAfter: number | undefined;

	/**
	 * `statusCode` is the HTTP status, `retryAfter` the milliseconds after which the provider accepts a retry.
	 * Default code: `unknown`.
	 */
	constructor(
		message: string,
		code: ProviderErrorCode = "unknown",
		statusCode?: number,
		retryAfter?: number,
		cause?: unknown,
	) {
		const reason = { code };
		super(reason.code, message, {
			retryable: passing.includes(code),
			...(cause === undefined ? {} : { cause }),
		});
		this.statusCode = statusCode;
		this.retryAfter = retryAfter;
	}
}
