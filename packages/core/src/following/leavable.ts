// Ends generators that are waiting. A generator can only be ended at a `yield`, so one that waits indefinitely is ended
// through a signal.

/** Returns an iterator over a generator's values. Ending it also ends a generator that is waiting. */
export function leavable<T>(
	given: AbortSignal | undefined,
	make: (signal: AbortSignal) => AsyncGenerator<T, void, void>,
): AsyncIterableIterator<T> {
	const left = new AbortController();
	const generator = make(given === undefined ? left.signal : AbortSignal.any([left.signal, given]));
	return {
		next: () => generator.next(),
		async return() {
			left.abort();
			await generator.return();
			return { done: true, value: undefined };
		},
		[Symbol.asyncIterator]() {
			return this;
		},
	};
}
