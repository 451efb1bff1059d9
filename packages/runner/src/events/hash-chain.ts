// Events as they are kept: each carries the hash of the one before, so that whoever changes one has to change all after it.
import { createHash } from "node:crypto";
import type { RunnerEvent, StoredEvent } from "../contract/index.ts";

/** What the first event follows upon. */
export const noHash: string = "0".repeat(64);

/** An event after another. */
export function chained(event: RunnerEvent, previousHash: string): StoredEvent {
	return { ...event, previousHash, hash: hashOf(event, previousHash) };
}

function hashOf(event: RunnerEvent, previousHash: string): string {
	return createHash("sha256").update(previousHash).update(canonical(event)).digest("hex");
}

/** The same text for the same data, whatever the order of its members. */
export function canonical(value: unknown): string {
	return JSON.stringify(value, (_, member) =>
		typeof member === "object" && member !== null && !Array.isArray(member)
			? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
			: member,
	);
}

/** Whether events are as they were appended; else the first `seq` that is not. A run that has ended ends with its end. */
export function verifyChain(
	events: readonly StoredEvent[],
): { readonly ok: true } | { readonly ok: false; readonly seq: number } {
	let previous = noHash;
	for (const [at, { hash, previousHash, ...event }] of events.entries()) {
		const seq = at + 1;
		if (event.seq !== seq || previousHash !== previous || hashOf(event, previousHash) !== hash)
			return { ok: false, seq };
		previous = hash;
	}
	return events.at(-1)?.type === "run.end" ? { ok: true } : { ok: false, seq: events.length + 1 };
}
