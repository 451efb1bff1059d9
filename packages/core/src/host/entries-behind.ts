// Reading on in a session, page by page.
import type { Entry } from "../facts/index.ts";
import type { Journal } from "./journal.ts";

/** How many entries are read at a time. */
const pageSize = 500;

/** The entries behind a seq, in order. Rejects with `events_expired` when they were folded. */
export async function* entriesBehind(
	journal: Journal,
	key: string,
	behind: number,
): AsyncGenerator<Entry, void, void> {
	for (let after = behind; ; ) {
		const page = await journal.read(key, { after, limit: pageSize });
		yield* page;
		if (page.length < pageSize) return;
		after = page.at(-1)?.seq ?? after;
	}
}
