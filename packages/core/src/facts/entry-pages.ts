// Reads the entries of a session page by page, without folding them: forwards from a position, or backwards from the end.
import type { StoredChunk } from "./chunk.ts";
import type { Entry } from "./fact.ts";
import { eventsExpired } from "./journal-errors.ts";

/** The part of a journal needed to read entries. */
export interface EntrySource {
	read(
		key: string,
		options?: { readonly after?: number; readonly limit?: number },
	): readonly Entry[] | Promise<readonly Entry[]>;
}

/** The part of a journal needed to read chunks. */
export interface ChunkSource {
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
