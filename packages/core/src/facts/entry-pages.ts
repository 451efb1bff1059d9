// Reads the entries of a session page by page, without folding them: forwards from a position, or backwards from the end.
import type { StoredChunk } from "./chunk.ts";
import { encodeFact } from "./codec.ts";
import type { Entry } from "./fact.ts";
import { eventsExpired } from "./journal-errors.ts";

/** The part of a journal needed to read entries. */
export interface EntrySource {
	/** Returns at most `limit` entries after a seq, in order. */
	read(
		key: string,
		options?: { readonly after?: number; readonly limit?: number },
	): readonly Entry[] | Promise<readonly Entry[]>;
}

/** The part of a journal needed to read chunks. */
export interface ChunkSource {
	/** Returns chunks in order. Absent: the journal keeps no chunks. */
	readChunks?(
		key: string,
		options: {
			readonly after: { readonly seq: number; readonly sub: number };
			readonly through: number;
			readonly limit: number;
		},
	): readonly StoredChunk[] | Promise<readonly StoredChunk[]>;
}

/** How many entries or chunks are read at a time. */
const forwards = 500;
const backwards = 200;
/** How many entries are read first, and at a time, while their size is unknown. */
const firstBounded = 4;
const mostBounded = 64;

/** Yields the entries after a seq, in order. Rejects with `events_expired` if they were folded. */
export async function* entriesAfter(
	source: EntrySource,
	key: string,
	seq: number,
): AsyncGenerator<Entry, void, void> {
	for (let after = seq; ; ) {
		const page = await source.read(key, { after, limit: forwards });
		yield* page;
		if (page.length < forwards) return;
		after = page.at(-1)?.seq ?? after;
	}
}

/**
 * Yields the entries from a seq back to the first one, in reverse order, because the target is usually near the end. If
 * the oldest were folded, it ends with the entry that replaces them. Rejects with `events_expired` if `seq` is one of
 * them.
 */
export async function* entriesBack(
	source: EntrySource,
	key: string,
	seq: number,
	pageSize: number = backwards,
): AsyncGenerator<Entry, void, void> {
	for (let end = seq; end > 0; end -= pageSize) {
		const after = Math.max(0, end - pageSize);
		const entries = await readKept(source, key, after, end - after);
		const [first] = entries;
		if (first?.fact.kind !== "folded") {
			yield* entries.toReversed();
			continue;
		}
		if (first.seq > seq) throw eventsExpired(key, seq, first.seq);
		yield* entries.filter((entry) => entry.seq <= end).reverse();
		return;
	}
}

/**
 * Reads a limited number of entries after a seq. If some of them were folded, starts with the entry that replaces them.
 */
export async function readKept(
	source: EntrySource,
	key: string,
	after: number,
	limit?: number,
): Promise<readonly Entry[]> {
	const most = limit === undefined ? {} : { limit };
	try {
		return await source.read(key, { after, ...most });
	} catch (error) {
		if (!isExpired(error)) throw error;
		return source.read(key, most);
	}
}

/**
 * Reads entries after a seq, at most `limit`, and stops once they have `characters` in their stored form. It reads few at a
 * time, so that long entries do not fill the memory. Returns at least one entry unless there are none: to continue, read
 * after the last one until none is returned. Rejects with `events_expired` if the next entries were folded.
 */
export async function readBounded(
	source: EntrySource,
	key: string,
	{
		after,
		limit,
		characters,
	}: { readonly after: number; readonly limit: number; readonly characters: number },
): Promise<readonly Entry[]> {
	const found: Entry[] = [];
	let size = 0;
	for (let next = after, count = Math.min(limit, firstBounded); ; ) {
		let page: readonly Entry[];
		try {
			page = await source.read(key, { after: next, limit: count });
		} catch (error) {
			// The entries were folded during the call: the next one reports it.
			if (found.length > 0 && isExpired(error)) return found;
			throw error;
		}
		found.push(...page);
		const last = page.at(-1);
		if (last === undefined || page.length < count || found.length >= limit) return found;
		next = last.seq;
		for (const { fact } of page) size += encodeFact(fact).body.length;
		if (size >= characters) return found;
		const fitting = Math.floor(((characters - size) * found.length) / Math.max(1, size));
		count = Math.max(1, Math.min(mostBounded, 2 * count, fitting, limit - found.length));
	}
}

/** Yields the chunks after one entry and before another, in order. */
export async function* chunksAfter(
	source: ChunkSource,
	key: string,
	seq: number,
	through: number,
): AsyncGenerator<StoredChunk, void, void> {
	for (let after = { seq, sub: 0 }; ; ) {
		const page = (await source.readChunks?.(key, { after, through, limit: forwards })) ?? [];
		yield* page;
		if (page.length < forwards) return;
		after = page.at(-1) ?? after;
	}
}

/** Whether the requested entries were folded. */
export function isExpired(error: unknown): boolean {
	return (error as { code?: unknown } | null)?.code === "events_expired";
}
