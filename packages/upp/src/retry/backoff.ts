// Predefined retry strategies.

import { checkOptions, optionNames } from "../errors/index.ts";
import type { RetryStrategy } from "../model/index.ts";
import { readDuration } from "../time/index.ts";

const backoffNames = optionNames<BackoffOptions>({
	maxRetries: "number",
	initialDelayMs: true,
	maxDelayMs: true,
	maxRetryAfterMs: true,
	random: "function",
});

const unlimited = { least: 0, most: Number.POSITIVE_INFINITY };

/** Options of `exponentialBackoff`. */
export interface BackoffOptions {
	/** The maximum number of retries. Default 2. */
	maxRetries?: number;
	/** The first delay in milliseconds; it doubles with each retry. Default 500. */
	initialDelayMs?: number;
	/** The maximum computed delay in milliseconds. Default 30,000. */
	maxDelayMs?: number;
	/** The maximum delay a provider may request, in milliseconds. If it requests more, the call fails. Default 60,000. */
	maxRetryAfterMs?: number;
	/**
	 * Returns a number from 0 to 1 that shortens each delay by up to half, so that many callers do not retry at once.
	 * Default: no jitter.
	 */
	random?: () => number;
}

/**
 * Retries retryable errors with increasing delays, or as the provider requests.
 * @throws HoldfastError `invalid_option`.
 */
export function exponentialBackoff(options: BackoffOptions = {}): RetryStrategy {
	checkOptions(options, backoffNames, { of: "exponentialBackoff()" });
	const maxRetries = options.maxRetries ?? 2;
	const initialDelayMs = readDuration("initialDelayMs", options.initialDelayMs, 500, { least: 0 });
	const maxDelayMs = readDuration("maxDelayMs", options.maxDelayMs, 30_000, unlimited);
	const maxRetryAfterMs = readDuration("maxRetryAfterMs", options.maxRetryAfterMs, 60_000, unlimited);
	return {
		onRetry(error, attempt) {
			if (!error.retryable || attempt > maxRetries) return null;
			const asked = error.retryAfterMs;
			if (asked !== undefined) return asked > maxRetryAfterMs ? null : asked;
			const delay = Math.min(maxDelayMs, initialDelayMs * 2 ** (attempt - 1));
			return options.random === undefined ? delay : delay * (1 - options.random() / 2);
		},
	};
}

/** Never retries. */
export const noRetry: RetryStrategy = { onRetry: () => null };
