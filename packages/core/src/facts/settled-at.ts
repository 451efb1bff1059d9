// Where a session is settled: no run is open at that entry, so that what is recorded up to it is whole without what follows.
import type { FactKind } from "./fact.ts";

/** The state around an entry: at it and after it. */
export interface Around {
	/** Undefined where there is no such entry. */
	readonly kind: FactKind | undefined;
	/** Undefined after the last entry. */
	readonly next: FactKind | undefined;
	/** Whether a run of the session is open now. */
	readonly isOpen: boolean;
}

/** Whether no run is open at an entry. */
export function isSettledAt({ kind, next, isOpen }: Around): boolean {
	if (kind === undefined) return false;
	if (kind === "run.ended" || kind === "folded") return true;
	return next === undefined ? !isOpen : next === "run.started";
}
