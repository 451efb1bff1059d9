// A request to a session that is deleted at that moment: it is refused, and nothing is left of the session.
import type { Host } from "holdfast";
import type { ExecuteSession } from "holdfast/execute";
import { isGone, sessionNotFound } from "./client-errors.ts";
import type { Accepted } from "./seen-requests.ts";

/**
 * Accepts a request to a session that was found a moment ago. What was written to it since it was deleted would be listed, and
 * be no session: it is removed.
 *
 * Rejects as `accept` does, and with `session_not_found`.
 */
export async function acceptWhole(
	{ journal }: Pick<Host, "journal">,
	session: ExecuteSession,
	accept: () => Promise<Accepted>,
): Promise<Accepted> {
	const clear = async (): Promise<boolean> => {
		if ((await session.setup()) !== undefined) return false;
		if ((await journal.head(session.storeKey)) !== undefined) await session.delete();
		return true;
	};
	let accepted: Accepted;
	try {
		accepted = await accept();
	} catch (error) {
		if (isGone(error)) await clear();
		throw error;
	}
	// One that begins at once is refused by itself where its session is gone.
	if (accepted.waitsFor !== undefined && (await clear())) throw sessionNotFound();
	return accepted;
}
