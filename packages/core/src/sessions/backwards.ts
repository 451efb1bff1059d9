// Entries from the last one on backwards, a page at a time: what is looked for is seldom far back.
import type { Entry } from "../facts/index.ts";
import type { Journal } from "../host/index.ts";
import { readKept } from "../host/index.ts";

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
