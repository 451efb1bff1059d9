// What is said of answers that come at once from the store in memory, and later from others.
import type { MaybePromise } from "holdfast/host";

/** Continues with an answer: at once where it came at once. */
export function andThen<T, U>(value: MaybePromise<T>, next: (value: T) => MaybePromise<U>): MaybePromise<U> {
	return value instanceof Promise ? value.then(next) : next(value as T);
}

/** All answers, at once where all came at once. */
export function all<T>(values: readonly MaybePromise<T>[]): MaybePromise<readonly T[]> {
	return values.some((value) => value instanceof Promise) ? Promise.all(values) : (values as readonly T[]);
}
