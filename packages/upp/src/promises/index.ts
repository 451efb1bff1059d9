// Values that are available immediately or later. The continuation is written once, and runs synchronously if the value
// is available.

/** A value, or a promise of it. */
export type MaybePromise<T> = T | Promise<T>;

/**
 * Continues with a value: synchronously if it is available, otherwise when it resolves. `failed` receives the rejection.
 */
export function after<T, U, F = never>(
	value: MaybePromise<T>,
	next: (value: T) => MaybePromise<U>,
	failed?: (error: unknown) => MaybePromise<F>,
): MaybePromise<U | F> {
	return value instanceof Promise ? value.then(next, failed) : next(value);
}

/**
 * Continues with the return value of a call, as `after` does. `failed` receives an error or rejection of the call, but
 * not of `next`.
 */
export function attempt<T, U, F = never>(
	call: () => MaybePromise<T>,
	next: (value: T) => MaybePromise<U>,
	failed: (error: unknown) => MaybePromise<F>,
): MaybePromise<U | F> {
	let value: MaybePromise<T>;
	try {
		value = call();
	} catch (error) {
		return failed(error);
	}
	return after(value, next, failed);
}

/** Returns the result of a call, or the result of `failed` for an error or a rejection. */
export function guarded<T, F = never>(
	call: () => MaybePromise<T>,
	failed: (error: unknown) => MaybePromise<F>,
): MaybePromise<T | F> {
	try {
		const value = call();
		return value instanceof Promise ? value.catch(failed) : value;
	} catch (error) {
		return failed(error);
	}
}

/** Whether `await` would treat a value as a promise. Reads `then` once. */
export function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
	return typeof (value as { then?: unknown } | null | undefined)?.then === "function";
}
