// Invariants of sub-agents' sessions at the end: they are deleted with the session whose work they do, and with no other
// session of the same key.
import { readChildStoreKey } from "holdfast/host";
import type { Ledger } from "./ledger.ts";
import type { Users } from "./users.ts";
import type { World } from "./world.ts";

/** A sub-agent's session is deleted together with the session it works for, neither earlier nor later. */
export function checkChildren({ ledger }: World, { endings }: Users): void {
	// A process that died or was refused while deleting a session may have deleted any part of it.
	const half = new Set(
		endings.flatMap(({ key, kind, done }) => (kind === "delete" && done === undefined ? [key] : [])),
	);
	for (const life of ledger.allLives) {
		const { key, entries } = life;
		const parentStoreKey = readChildStoreKey(key)?.parentStoreKey;
		if (parentStoreKey === undefined || half.has(rootOf(key))) continue;
		const parent = ledger.current(parentStoreKey);
		const isLeft = ledger.current(key) === life;
		if (isLeft && parent === undefined) ledger.wrong(`${key} is left, and nothing of its parent`);
		const ended = new Set(entries.flatMap(({ runId, fact }) => (fact.kind === "run.ended" ? runId : [])));
		for (const { runId, fact } of entries) {
			if (fact.kind !== "run.started" || fact.parent === undefined) continue;
			const works = parent !== undefined && ledger.lifeOfRun(fact.parent.runId) === parent;
			if (works && !isLeft) ledger.wrong(`${key} is gone, and its parent is not`);
			if (isLeft && !ended.has(runId) && !isAtRest(ledger, key))
				ledger.wrong(`run ${runId} of ${key} is left open`);
			if (isLeft && !works) ledger.wrong(`${key} is left, and has worked for a session that is gone`);
		}
	}
}

/**
 * Whether no process continues a sub-agent's work: a parked background task stays parked until its parent's session ends,
 * and so do the sub-agents that work for the task.
 */
export function isAtRest(ledger: Ledger, place: string): boolean {
	const child = readChildStoreKey(place);
	if (child === undefined) return false;
	const last = ledger.current(place)?.entries.at(-1)?.fact.kind;
	return last === "run.parked" || isAtRest(ledger, child.parentStoreKey);
}

/** Returns the root session. */
export function rootOf(place: string): string {
	const child = readChildStoreKey(place);
	return child === undefined ? place : rootOf(child.parentStoreKey);
}
