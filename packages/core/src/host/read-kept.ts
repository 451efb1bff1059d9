// Reading back over the end of a session where what is far back may have been folded.
import type { Entry } from "../facts/index.ts";
import type { Journal } from "./journal.ts";

/** The entries behind a seq, at most so many, as far as they are kept: from the folded one on where it stands behind. */
export async function readKept(
	journal: Journal,
	key: string,
	after: number,
	limit?: number,
): Promise<readonly Entry[]> {
	const most = limit === undefined ? {} : { limit };
	try {
		return await journal.read(key, { after, ...most });
	} catch (error) {
		if ((error as { code?: unknown }).code !== "events_expired") throw error;
		return journal.read(key, most);
	}
}
