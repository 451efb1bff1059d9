// A generator can only be ended at a `yield`. One that waits indefinitely is ended through a signal.

/** An iterator over a generator's values; ending it also ends a waiting generator. */
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
