// A generator can only be left where it yields. One that waits for what may never come is left through a signal.

/** An iterator over what a generator yields; leaving it ends the generator also while it waits. */
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
