// When a waiting or parked run without an owner is next due. Stores keep this time with the session, so that the cost of
// finding due sessions is proportional to their number, however many wait (keeps I5).
import type { Fact } from "./fact.ts";
import { earliestDue } from "./nested-waits.ts";

/** For a run that waits without a time limit, or until it is released. */
export const never: number = Number.MAX_SAFE_INTEGER;

/**
 * Returns the earliest time at which a wait of the run or its sub-agents ends (a call's deadline, or a strategy's wait),
 * in milliseconds since the epoch, or `never`; null if the run is in progress or has ended. `before` is the value before
 * these facts.
 */
export function lookAt(facts: readonly Fact[], before: number | null): number | null {
	const last = facts.at(-1);
	if (last === undefined) return before;
	if (last.kind === "run.parked") return never;
	if (last.kind !== "waiting") return null;
	return earliestDue(last) ?? never;
}
