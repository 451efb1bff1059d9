// The port for time and randomness (keeps I6): everything here that waits or needs random numbers uses it.

/** Time and randomness. `globalThis` in production, a fake in tests. */
export interface Timers {
	/** Milliseconds since 1970. */
	now(): number;
	/** From 0 to 1, 1 excluded. */
	random(): number;
	/** Calls `callback` once, after a delay. Returns a handle for `clearTimeout`. */
	setTimeout(callback: () => void, milliseconds: number): unknown;
	/** Cancels a delay. */
	clearTimeout(handle: unknown): void;
}

/** The longest delay of a platform's timer: beyond 24.8 days it would fire at once. */
const longestTimer = 2 ** 31 - 1;

/** Calls back after a time of any length. Returns a function that cancels it. */
function startTimer(callback: () => void, milliseconds: number): () => void {
	let timer: unknown;
	const wait = (left: number): void => {
		timer =
			left <= longestTimer
				? setTimeout(callback, left)
				: setTimeout(() => wait(left - longestTimer), longestTimer);
	};
	wait(milliseconds);
	return () => clearTimeout(timer as number);
}

// Wrapped, because browsers refuse timers that are called as methods of another object.
export const platformTimers: Timers = {
	now: () => Date.now(),
	random: () => Math.random(),
	setTimeout: startTimer,
	clearTimeout: (callOff) => (callOff as (() => void) | undefined)?.(),
};

/** Waits; rejects with the signal's reason as soon as it fires. */
export function sleep(timers: Timers, milliseconds: number, signal?: AbortSignal): Promise<void> {
	return new Promise((resolve, reject) => {
		if (signal?.aborted) return reject(signal.reason);
		const cancel = (): void => {
			timers.clearTimeout(handle);
			reject(signal?.reason);
		};
		const handle = timers.setTimeout(() => {
			signal?.removeEventListener("abort", cancel);
			resolve();
		}, milliseconds);
		signal?.addEventListener("abort", cancel, { once: true });
	});
}
