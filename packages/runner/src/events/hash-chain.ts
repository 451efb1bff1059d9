// Events as they are kept: each carries the hash of the one before, so that whoever changes one has to change all after it;
// with a key that is not in the store, nobody without it can.
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { RecordAnchor, RecordVerdict, RunnerEvent, StoredEvent } from "../contract/index.ts";

/** What the first event follows upon. */
export const noHash: string = "0".repeat(64);

/** Keys of a store: the first makes codes, all check them. */
export interface ChainKeys {
	readonly keys: readonly (string | Uint8Array)[];
	/** Whether events from before the first key may have no code. */
	readonly acceptsUnkeyed: boolean;
}

/** An event after another. */
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

/** The same text for the same data, whatever the order of its members. */
export function canonical(value: unknown): string {
	return JSON.stringify(value, (_, member) =>
		typeof member === "object" && member !== null && !Array.isArray(member)
			? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
			: member,
	);
}

/**
 * Whether events are as they were appended for this run; else the first `seq` that is not. A run that has ended ends with its
 * end. Once an event carries a code, all after it do.
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
