// When somebody has to look at a run that nobody works on, for it waits or is parked. Stores keep it beside the session, so
// that finding what is due costs what is due, however many wait (keeps I5).
import type { Fact } from "./fact.ts";

/** Of a run that waits for somebody who has all the time there is, or to be released. */
export const never: number = Number.MAX_SAFE_INTEGER;

/**
 * The earliest time of what a run waits for, a deadline of its calls or what its strategy set, in milliseconds since the epoch, or `never`; null where the run
 * is worked on, or over. `before` is what it was before these facts.
 */
export function lookAt(facts: readonly Fact[], before: number | null): number | null {
	const last = facts.at(-1);
	if (last === undefined) return before;
	if (last.kind === "run.parked") return never;
	if (last.kind !== "waiting") return null;
	const until = last.wait?.until ?? never;
	return last.calls.reduce((earliest, { deadline = never }) => Math.min(earliest, deadline), until);
}
