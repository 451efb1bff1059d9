// The error of providers.
import { HoldfastError } from "@holdfast/upp";
import type { ProviderErrorCode } from "../types/index.ts";

/** Codes of errors that may not come again. */
const passing: readonly ProviderErrorCode[] = ["rate_limit", "server_error", "timeout"];

/** A provider failed. Those with `retryable` make a model's fallbacks take over. */
export class ProviderError extends HoldfastError {
	declare readonly code: ProviderErrorCode;
	/** The HTTP status that the provider answered with. */
	readonly statusCode: number | undefined;
	/** Milliseconds after which the provider wants to be asked again. */
	readonly retryAfter: number | undefined;

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
