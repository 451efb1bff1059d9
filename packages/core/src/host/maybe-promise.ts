// Values that a store gives at once or later: what follows is written once, and nothing waits that need not.
import type { MaybePromise } from "./journal.ts";

/** Continues with a value: within this call where it is there, else when it comes. */
export function after<T, U>(value: MaybePromise<T>, next: (value: T) => MaybePromise<U>): MaybePromise<U> {
	return value instanceof Promise ? value.then(next) : next(value);
}
