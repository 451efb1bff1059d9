// The time limit for outside answers to a waiting run's calls.
import type { Clock } from "../host/index.ts";
import type { Later } from "./later.ts";

/** The longest delay of a timer in milliseconds. */
const longestTimer = 2 ** 31 - 1;

/** The dependencies of a deadline's watch. */
export interface DeadlineWatch {
	readonly later: Later;
	readonly clock: Pick<Clock, "now">;
	/** Identifies this watch among deferred work. */
	readonly purpose: string;
	/** Retried if it cannot be recorded: the store fails, or another worker has the session and may die. */
	expire(): Promise<void>;
	isUsable(): boolean;
}

/** Calls `expire` when the first of the waiting calls times out; never if `deadline` is undefined. */
export function watchDeadline(
	deadline: number | undefined,
	{ later, clock, purpose, expire, isUsable }: DeadlineWatch,
): void {
	later.callOff(purpose);
	if (deadline === undefined) return;
	// Timers do not reach further, so the rest is waited for in the same way.
	const after = Math.min(Math.max(0, deadline - clock.now()), longestTimer);
	later.set(purpose, expire, isUsable, after);
}
