// Timers for durations of any length: a platform's timers fire immediately for more than 24.8 days.

const longestTimer = 2 ** 31 - 1;

/** How a timer affects its process. */
export interface TimerOptions {
	/** `"release"`: the timer does not keep the process alive. Default `"hold"`. */
	readonly process?: "hold" | "release";
}

/**
 * Calls `wake` once, after the given number of milliseconds; never after `Infinity`. Returns a function that cancels it.
 */
export function startTimer(milliseconds: number, wake: () => void, options: TimerOptions = {}): () => void {
	if (milliseconds === Number.POSITIVE_INFINITY) return () => {};
	let timer: ReturnType<typeof setTimeout>;
	const wait = (left: number): void => {
		timer =
			left <= longestTimer
				? setTimeout(wake, left)
				: setTimeout(() => wait(left - longestTimer), longestTimer);
		if (options.process === "release") (timer as { unref?(): void }).unref?.();
	};
	wait(milliseconds);
	return () => clearTimeout(timer);
}

/** Resolves after the given number of milliseconds. Rejects with the signal's reason if it is aborted. */
export function delay(milliseconds: number, signal?: AbortSignal): Promise<void> {
	return new Promise((resolve, reject) => {
		const stop = (): void => {
			callOff();
			reject(signal?.reason);
		};
		const callOff = startTimer(milliseconds, () => {
			signal?.removeEventListener("abort", stop);
			resolve();
		});
		if (signal?.aborted) stop();
		else signal?.addEventListener("abort", stop, { once: true });
	});
}

/** `AbortSignal.timeout` for durations of any length. */
export function timeoutSignal(milliseconds: number): AbortSignal {
	const controller = new AbortController();
	const late = (): void => controller.abort(new DOMException("The time is up.", "TimeoutError"));
	startTimer(milliseconds, late, { process: "release" });
	return controller.signal;
}
