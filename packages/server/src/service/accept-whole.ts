// A request to a session that is being deleted: it is refused, and nothing remains of the session.
import type { Host } from "holdfast";
import type { ExecuteSession } from "holdfast/execute";
import { isGone, sessionNotFound } from "./client-errors.ts";
import type { Accepted } from "./seen-requests.ts";

/**
 * Accepts a request to a session that was just found. Data written to it after its deletion would be listed without being
 * a session, so it is removed.
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
	// An input that starts at once fails by itself if its session was deleted.
	if (accepted.waitsFor !== undefined && (await clear())) throw sessionNotFound();
	return accepted;
}
