// The sessions of a store whose places begin alike, a page at a time: there may be many others behind them.
import type { Journal } from "../host/index.ts";

const pageSize = 100;

/** The places that begin with `prefix`, in order; of all sessions, or of those that changed since. */
export async function* placesBehind(
	journal: Journal,
	prefix: string,
	changedSince = 0,
): AsyncGenerator<string, void, void> {
	for (let after = ""; ; ) {
		const heads = await journal.list({ prefix, after, limit: pageSize, changedSince });
		for (const { key } of heads) {
			yield key;
			after = key;
		}
		if (heads.length < pageSize) return;
	}
}
