// Timers for durations of any length: a platform's fire at once beyond 24.8 days.

const longestTimer = 2 ** 31 - 1;

/** How a timer treats its process. */
export interface TimerOptions {
	/** `"release"`: a process with nothing else to do may end before. Default `"hold"`. */
	readonly process?: "hold" | "release";
}

/** Calls `wake` once, after that many milliseconds; never after `Infinity`. Returns the way to call it off. */
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

/** Resolves after the given number of milliseconds; rejects with the signal's reason when it is aborted. */
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
