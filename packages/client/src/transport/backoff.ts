// How long to wait before the next attempt, and when to give up (keeps I7: attempts are bounded by default).

import { ClientError } from "../errors/index.ts";
import type { Settings } from "./options.ts";
import { sleep } from "./timers.ts";

/** Counts failures in a row. */
export interface Backoff {
	/** Call it on progress: the next failure counts as the first one again. */
	reset(): void;
	/** Waits before another attempt. @throws the failure itself if it is final or there were too many. */
	afterFailure(failure: unknown): Promise<void>;
}

export function createBackoff(settings: Settings, signal?: AbortSignal): Backoff {
	const { timers, reconnectDelayMs, maxReconnectDelayMs, maxReconnects, unansweredMs, contact } = settings;
	let failures = 0;
	let waited = 0;
	return {
		reset() {
			failures = 0;
			waited = 0;
		},
		async afterFailure(failure) {
			signal?.throwIfAborted();
			if (!(failure instanceof ClientError) || !failure.retryable) throw failure;
			failures += 1;
			if (failures > maxReconnects) throw failure;
			const longest = Math.min(maxReconnectDelayMs, reconnectDelayMs * 2 ** (failures - 1));
			// Half of the delay is random: clients that lost the same server must not all return at once.
			const chosen = longest / 2 + (timers.random() * longest) / 2;
			const delayMs = Math.round(Math.max(chosen, retryAfterOf(failure)));
			waited += delayMs;
			if (failure.code === "connection_failed" && !contact.hasAnswered && waited > unansweredMs)
				throw failure;
			settings.onReconnect({ attempt: failures, delayMs, error: failure });
			await sleep(timers, delayMs, signal);
		},
	};
}

function retryAfterOf(failure: ClientError): number {
	const { retryAfterMs } = failure.data ?? {};
	return typeof retryAfterMs === "number" ? retryAfterMs : 0;
}
