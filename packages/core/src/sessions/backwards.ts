// Entries from the last one on backwards, a page at a time: what is looked for is seldom far back.
import type { Entry, Journal } from "../journal/index.ts";
import { readKept } from "../journal/read-kept.ts";

/** How many entries are read at a time. */
const pageSize = 200;

/** The entries of a session up to a seq, the last one first. */
export async function* backwards(journal: Journal, place: string, seq: number): AsyncGenerator<Entry> {
	for (let end = seq; end > 0; end -= pageSize) {
		const after = Math.max(0, end - pageSize);
		const entries = await readKept(journal, place, after, end - after);
		yield* entries.toReversed();
		if (entries[0]?.fact.kind === "folded") return;
	}
}
