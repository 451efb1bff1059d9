// Where a session is settled: no run is open at that entry, so the records up to it are complete on their own.
import type { FactKind } from "./fact.ts";

/** The kinds of an entry and the one after it. */
export interface Around {
	/** Undefined if there is no such entry. */
	readonly kind: FactKind | undefined;
	/** Undefined after the last entry. */
	readonly next: FactKind | undefined;
	/** Whether the session has an open run now. */
	readonly isOpen: boolean;
}

/** Whether no run is open at an entry. */
export function isSettledAt({ kind, next, isOpen }: Around): boolean {
	if (kind === undefined) return false;
	if (kind === "run.ended" || kind === "folded") return true;
	return next === undefined ? !isOpen : next === "run.started";
}
