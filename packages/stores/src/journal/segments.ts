// Segments: each contains what one append committed, and is written once. They are reached from the head backwards by
// leases (the first segment of each lease refers to the segments of the previous one) and within a lease by their
// numbers.

import {
	type Append,
	decodeFact,
	type Entry,
	encodeFact,
	journalCorrupt,
	named,
	type SessionStore,
} from "holdfast/host";
import { segmentKey } from "./derived-keys.ts";
import { atOnce, commitDocument, loadDocument } from "./documents.ts";
import { checkFormat, isSpan, type Span, type storeFormat } from "./head.ts";

type StoredFact = readonly [kind: string, version: number, body: string];

export interface Segment {
	readonly format: typeof storeFormat;
	/** Seq of the last entry before it. */
	readonly seq: number;
	readonly at: number;
	readonly runId: string;
	readonly facts: readonly StoredFact[];
	/** The segments before those of this lease; only in the first segment of a lease, null in the very first. */
	readonly previous?: Span | null;
	/** Dedupe keys of inputs that this append accepted. */
	readonly claimed?: readonly string[];
}

/** Returns the facts of an append in their stored form. */
export function encodeFacts(batch: Append): readonly StoredFact[] {
	return batch.facts.map((fact) => {
		const { kind, version, body } = encodeFact(fact);
		return [kind, version, body];
	});
}

/** Returns the spans that contain entries after a seq, oldest first. */
async function spansAfter(
	store: SessionStore,
	key: string,
	last: Span | null,
	after: number,
): Promise<readonly Span[]> {
	const spans: Span[] = [];
	for (let span = last; span !== null; ) {
		spans.push(span);
		if (span.seq <= after) break;
		const { previous } = await loadSegment(store, key, span.leaseId, span.from);
		if (previous !== null && (!isSpan(previous) || previous.seq > span.seq))
			throw journalCorrupt(`a segment of session ${named(key)} does not name the one before`);
		span = previous;
	}
	return spans.reverse();
}

/** Reads entries after a seq, up to a limit. */
export async function readEntries(
	store: SessionStore,
	key: string,
	last: Span | null,
	{ after, limit }: { readonly after: number; readonly limit: number },
): Promise<readonly Entry[]> {
	const entries: Entry[] = [];
	for (const span of await spansAfter(store, key, last, after)) {
		let number = span.seq < after ? await segmentAt(store, key, span, after) : span.from;
		while (number <= span.to && entries.length < limit) {
			const count = Math.min(atOnce, span.to - number + 1, limit - entries.length);
			const segments = await Promise.all(
				Array.from({ length: count }, (_, index) => loadSegment(store, key, span.leaseId, number + index)),
			);
			for (const segment of segments) addEntries(entries, segment, after);
			number += count;
		}
		if (entries.length >= limit) break;
	}
	return entries.length > limit ? entries.slice(0, limit) : entries;
}

/**
 * Returns the number of the last segment that starts at or before a seq: entries after the seq are in it or in later
 * ones.
 */
async function segmentAt(store: SessionStore, key: string, span: Span, after: number): Promise<number> {
	let [low, high] = [span.from, span.to];
	while (low < high) {
		const middle = Math.ceil((low + high) / 2);
		if ((await loadSegment(store, key, span.leaseId, middle)).seq <= after) low = middle;
		else high = middle - 1;
	}
	return low;
}

function addEntries(entries: Entry[], { seq, at, runId, facts }: Segment, after: number): void {
	for (const [index, [kind, version, body]] of facts.entries()) {
		const place = seq + index + 1;
		if (place > after) entries.push({ seq: place, at, runId, fact: decodeFact(kind, version, body) });
	}
}

async function loadSegment(
	store: SessionStore,
	key: string,
	leaseId: string,
	number: number,
): Promise<Segment & { readonly previous: Span | null }> {
	const what = `segment ${number} of session ${named(key)}`;
	const loaded = await loadDocument(store, segmentKey(key, leaseId, number));
	if (loaded === undefined) throw journalCorrupt(`${what} is missing`);
	checkFormat(what, loaded.state);
	const segment = loaded.state as Segment;
	const { seq, at, runId, facts, previous = null } = segment;
	const isWhole =
		Number.isSafeInteger(seq) && typeof at === "number" && typeof runId === "string" && Array.isArray(facts);
	if (!isWhole) throw journalCorrupt(`${what} lacks a part`);
	return { ...segment, previous };
}

/** Copies the entries up to a seq, a few segments at a time, as the segments of one lease of another session. */
export async function copySegments(
	store: SessionStore,
	from: { readonly key: string; readonly span: Span | null },
	to: { readonly key: string; readonly leaseId: string },
	until: number,
): Promise<Span> {
	const { leaseId } = to;
	let number = 0;
	for (const span of await spansAfter(store, from.key, from.span, 0)) {
		for (let first = span.from; first <= span.to && span.seq < until; first += atOnce) {
			const count = Math.min(atOnce, span.to - first + 1);
			const segments = await Promise.all(
				Array.from({ length: count }, (_, index) =>
					loadSegment(store, from.key, span.leaseId, first + index),
				),
			);
			const wanted = segments.filter(({ seq, facts }) => seq < until && facts.length > 0);
			const written = wanted.map(({ format, seq, at, runId, facts }, index) => {
				const copy = { format, seq, at, runId, facts: facts.slice(0, until - seq) };
				const place = segmentKey(to.key, leaseId, number + index + 1);
				return commitDocument(store, place, number + index === 0 ? { ...copy, previous: null } : copy, null);
			});
			await Promise.all(written);
			number += wanted.length;
		}
	}
	return { leaseId, from: 1, to: number, seq: 0 };
}

/** Lists the keys of a session's segments, and with `keys-and-claims` also their dedupe keys. */
export async function listSegments(
	store: SessionStore,
	key: string,
	last: Span | null,
	what: "keys" | "keys-and-claims",
): Promise<{ readonly keys: readonly string[]; readonly claimed: readonly string[] }> {
	const keys: string[] = [];
	const claimed: string[] = [];
	for (const { leaseId, from, to } of await spansAfter(store, key, last, -1)) {
		for (let number = from; number <= to; number++) {
			keys.push(segmentKey(key, leaseId, number));
			if (what === "keys") continue;
			claimed.push(...((await loadSegment(store, key, leaseId, number)).claimed ?? []));
		}
		// Segments of a writer that died or lost the session before its head was written.
		keys.push(segmentKey(key, leaseId, to + 1));
	}
	return { keys, claimed };
}
