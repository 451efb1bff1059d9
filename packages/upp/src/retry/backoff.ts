// Ready-made retry strategies.

import { checkOptionNames, optionNames } from "../errors/index.ts";
import type { RetryStrategy } from "../model/index.ts";
import { readDuration } from "../time/index.ts";

const backoffNames = optionNames<BackoffOptions>({
	maxRetries: true,
	initialDelayMs: true,
	maxDelayMs: true,
	maxRetryAfterMs: true,
	random: true,
});

const unlimited = { least: 0, most: Number.POSITIVE_INFINITY };

/** How `exponentialBackoff` waits. */
export interface BackoffOptions {
	/** How many retries at most. Default 2. */
	maxRetries?: number;
	/** The first wait in milliseconds; each further one is twice as long. Default 500. */
	initialDelayMs?: number;
	/** The longest wait of our own in milliseconds. Default 30,000. */
	maxDelayMs?: number;
	/** The longest wait a provider may ask for, in milliseconds; if it asks for more, we give up. Default 60,000. */
	maxRetryAfterMs?: number;
	/**
	 * Gives numbers from 0 to 1 that shorten each wait by up to half, so that many callers do not come back at
	 * once. Default: waits are exact.
	 */
	random?: () => number;
}

/**
 * Retries what may be retried, waiting longer each time, or as long as the provider asks for.
 * @throws HoldfastError `invalid_option`.
 */
export function exponentialBackoff(options: BackoffOptions = {}): RetryStrategy {
	checkOptionNames(options, backoffNames, { of: "exponentialBackoff()" });
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
