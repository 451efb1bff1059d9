// Work that is done at once where it can be: the one place that tells a promise from a value.

/** A value, or a promise of it. */
export type MaybePromise<T> = T | Promise<T>;

/** Continues with a value, at once where it is there; `onError` gets what `value` throws or rejects with. */
export function after<T, R>(
	value: () => MaybePromise<T>,
	then: (value: T) => R,
	onError: (error: unknown) => R,
): MaybePromise<R> {
	let given: MaybePromise<T>;
	try {
		given = value();
	} catch (error) {
		return onError(error);
	}
	return given instanceof Promise ? given.then(then, onError) : then(given);
}
