// Treats a silent connection as dead: a phone that changed networks is never notified, so silence is the only sign.

import { ClientError, isClientError } from "../errors/index.ts";
import type { Settings } from "./options.ts";

/**
 * Runs `work` on a connection.
 *
 * @throws ClientError `connection_lost` if it fails or exceeds the idle time.
 */
export function withinIdleTime<T>({ timers, idleTimeoutMs }: Settings, work: Promise<T>): Promise<T> {
	return new Promise((resolve, reject) => {
		const handle = Number.isFinite(idleTimeoutMs)
			? timers.setTimeout(() => reject(lost(`was silent for ${idleTimeoutMs} ms`)), idleTimeoutMs)
			: undefined;
		work
			.then(resolve, (cause) => reject(isClientError(cause) ? cause : lost("broke", cause)))
			.finally(() => timers.clearTimeout(handle));
	});
}

/** Returns the error of a lost connection; the missed events can be read from where it stopped. */
export function lost(what: string, cause?: unknown): ClientError {
	return new ClientError(
		"connection_lost",
		`The connection to the server ${what}. Resume from the last event's id when the server can be reached.`,
		{ retryable: true, ...(cause === undefined ? {} : { cause }) },
	);
}
