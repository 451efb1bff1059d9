// Limits the requests of a tenant in a window of time. Expired windows are forgotten (keeps I7).
import { HoldfastError } from "holdfast";

/** How many requests a tenant may make in a window. */
export interface RateLimit {
	/** Number of requests. */
	readonly requests: number;
	/** Milliseconds. */
	readonly windowMs: number;
}

interface Window {
	startedAt: number;
	requests: number;
}

/** Counts the requests of each tenant. */
export class RateLimiter {
	readonly #limit: RateLimit;
	readonly #now: () => number;
	readonly #windows = new Map<string, Window>();

	constructor(limit: RateLimit, now: () => number) {
		this.#limit = limit;
		this.#now = now;
	}

	/**
	 * Counts one request.
	 * @throws HoldfastError `rate_limited` with `data.retryAfterMs`.
	 */
	count(tenant: string): void {
		const { requests, windowMs } = this.#limit;
		const now = this.#now();
		let window = this.#windows.get(tenant);
		if (window === undefined || now - window.startedAt >= windowMs) {
			this.#windows.delete(tenant);
			this.#forget(now);
			window = { startedAt: now, requests: 0 };
			this.#windows.set(tenant, window);
		}
		window.requests++;
		if (window.requests <= requests) return;
		throw new HoldfastError(
			"rate_limited",
			`More than ${requests} requests in ${windowMs} ms. Wait for the time in \`Retry-After\`.`,
			{ retryable: true, data: { retryAfterMs: window.startedAt + windowMs - now } },
		);
	}

	/** Windows are in the order in which they started, so expired ones come first. */
	#forget(now: number): void {
		for (const [tenant, { startedAt }] of this.#windows) {
			if (now - startedAt < this.#limit.windowMs) return;
			this.#windows.delete(tenant);
		}
	}
}
