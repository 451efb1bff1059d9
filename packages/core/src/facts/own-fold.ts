// A strategy's own fold over a run, and which facts are hidden from it.
import type { Entry, Fact } from "./fact.ts";
import type { RunState } from "./run-state.ts";

/** A strategy's own fold over the facts of a run, pure and constant in cost (keeps I2, I5, I6). */
export interface OwnFold {
	initial(): unknown;
	evolve(own: unknown, entry: Entry): unknown;
}

/** Replaces a strategy's own state after its fold threw. */
export class OwnFoldFailed {
	readonly error: unknown;
	constructor(error: unknown) {
		this.error = error;
	}
}

/** Returns the strategy's folded value of the run so far; undefined if it has no fold, or the fold failed. */
export function ownOf(run: RunState | undefined): unknown {
	return run?.own instanceof OwnFoldFailed ? undefined : run?.own;
}

/** Whether a fact is not part of the work, so that strategies do not see it. */
export function isHidden(fact: Fact, before: RunState | undefined): boolean {
	if (fact.kind === "tools.pending") return true;
	if (fact.kind === "waiting") return fact.wait?.model !== undefined;
	if (fact.kind === "wait.ended") return before?.wait?.model !== undefined;
	if (fact.kind !== "note") return false;
	return fact.aside === true || fact.topic === "model-retry" || fact.topic === "suspended";
}
