// What a strategy folds of a run for itself, and which facts it does not see.
import type { Entry, Fact } from "./fact.ts";
import type { RunState } from "./run-state.ts";

/** What a strategy knows of a run: a fold of its own over the facts of it, pure and constant in cost (keeps I2, I5, I6). */
export interface OwnFold {
	initial(): unknown;
	evolve(own: unknown, entry: Entry): unknown;
}

/** In the place of what a strategy knows, where its own fold threw. */
export class OwnFoldFailed {
	readonly error: unknown;
	constructor(error: unknown) {
		this.error = error;
	}
}

/** What the strategy of a run has folded of it so far; undefined where it folds nothing, or could not. */
export function ownOf(run: RunState | undefined): unknown {
	return run?.own instanceof OwnFoldFailed ? undefined : run?.own;
}

/** Whether a fact says nothing of the work: strategies do not see it. */
export function isHidden(fact: Fact, before: RunState | undefined): boolean {
	if (fact.kind === "tools.pending") return true;
	if (fact.kind === "waiting") return fact.wait?.model !== undefined;
	if (fact.kind === "wait.ended") return before?.wait?.model !== undefined;
	if (fact.kind !== "note") return false;
	return fact.aside === true || fact.topic === "model-retry" || fact.topic === "suspended";
}
