// Stored events: each contains the hash of its predecessor, so changing one requires changing all later ones. If there is
// a key outside the store, that is impossible without the key.
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { RecordAnchor, RecordVerdict, RunnerEvent, StoredEvent } from "../contract/index.ts";

/** The predecessor hash of the first event. */
export const noHash: string = "0".repeat(64);

/** Keys of a store: the first creates codes, all of them verify. */
export interface ChainKeys {
	readonly keys: readonly (string | Uint8Array)[];
	/** Whether events that precede the first key may have no code. */
	readonly acceptsUnkeyed: boolean;
}

/** Returns an event chained to its predecessor. */
export function chained(event: RunnerEvent, previousHash: string, { keys: [key] }: ChainKeys): StoredEvent {
	const hash = hashOf(event, previousHash);
	return { ...event, previousHash, hash, ...(key === undefined ? {} : { mac: codeOf(hash, key) }) };
}

function hashOf(event: RunnerEvent, previousHash: string): string {
	return createHash("sha256").update(previousHash).update(canonical(event)).digest("hex");
}

function codeOf(hash: string, key: string | Uint8Array): string {
	return createHmac("sha256", key).update(hash).digest("hex");
}

function isCode(mac: unknown, hash: string, keys: ChainKeys["keys"]): boolean {
	if (typeof mac !== "string" || mac.length !== noHash.length) return false;
	return keys.some((key) =>
		timingSafeEqual(Buffer.from(mac.padEnd(64)).subarray(0, 64), Buffer.from(codeOf(hash, key))),
	);
}

/** Returns the same text for equal data, regardless of member order. */
export function canonical(value: unknown): string {
	return JSON.stringify(value, (_, member) =>
		typeof member === "object" && member !== null && !Array.isArray(member)
			? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
			: member,
	);
}

/**
 * Verifies that events are unchanged since they were appended for this run; otherwise returns the first `seq` that is
 * not. The events of an ended run must include its end. Once an event has a code, all later ones must.
 */
export function verifyChain(
	runId: string,
	events: readonly StoredEvent[],
	{ keys, acceptsUnkeyed }: ChainKeys,
	anchors: readonly RecordAnchor[] = [],
): RecordVerdict {
	let previous = noHash;
	let unkeyed = 0;
	const anchored = new Map<number, Set<string>>();
	for (const { runId: of, seq, hash } of anchors)
		if (of === runId) anchored.set(seq, (anchored.get(seq) ?? new Set()).add(hash));
	for (const [at, { hash, previousHash, mac, ...event }] of events.entries()) {
		const seq = at + 1;
		const isInPlace = event.seq === seq && event.runId === runId && previousHash === previous;
		if (!isInPlace || hashOf(event, previousHash) !== hash) return { ok: false, seq };
		const hashes = anchored.get(seq);
		if (hashes !== undefined && (hashes.size > 1 || !hashes.has(hash))) return { ok: false, seq };
		anchored.delete(seq);
		if (keys.length > 0 && mac === undefined) {
			if (!acceptsUnkeyed || unkeyed < at) return { ok: false, seq };
			unkeyed++;
		} else if (keys.length > 0 && !isCode(mac, hash, keys)) return { ok: false, seq };
		previous = hash;
	}
	if (events.at(-1)?.type !== "run.end" || anchored.size > 0) return { ok: false, seq: events.length + 1 };
	return keys.length === 0 ? { ok: true } : { ok: true, keyed: unkeyed === 0 };
}
