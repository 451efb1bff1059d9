// Finds out when a waiting message starts a run of its own or enters the current run: the journal shows it, no matter
// which worker accepts it (keeps I2).
import { followSession, type Host } from "holdfast";
import { afterEntry } from "holdfast/execute";
import { codeOf } from "./client-errors.ts";

/** A message that waits. */
export interface WaitingMessage {
	/** The key of its session in the store. */
	readonly storeKey: string;
	/** The run it will start, or its own id if it enters the current run. */
	readonly waitsFor: string;
	/** An id before the event that accepts it. */
	readonly after: string;
}

type Followed = Parameters<typeof followSession>[2];

/**
 * Returns the id after which its events start, once it was accepted. Returns undefined if it never will be, because the
 * session was deleted or the message removed from its inbox, and when the signal aborts. It needs only the store, so you
 * can call it anywhere and any number of times.
 */
export async function whenBegun(
	host: Pick<Host, "journal">,
	message: WaitingMessage,
	signal: AbortSignal,
): Promise<string | undefined> {
	try {
		return await taken(host, message, signal);
	} catch (error) {
		// The position no longer exists: the session was deleted, and may have been created again.
		if (codeOf(error) === "invalid_event_id") return undefined;
		throw error;
	}
}

async function taken(
	host: Pick<Host, "journal">,
	{ storeKey, waitsFor, after }: WaitingMessage,
	signal: AbortSignal,
): Promise<string | undefined> {
	const find = async (options: Followed): Promise<{ from: string } | { ended: string } | undefined> => {
		for await (const { id, event } of followSession(host, storeKey, { ...options, signal })) {
			const isIt =
				event.type === "run_start"
					? event.runId === waitsFor
					: event.type === "input" && event.message.id === waitsFor;
			if (isIt) return { from: afterEntry(event.seq - 1) };
			if (
				event.type === "run_end" &&
				options?.until === "never" &&
				!(await isWaiting(host, storeKey, waitsFor))
			)
				return { ended: id };
		}
		return undefined;
	};
	const found = await find({ after, until: "never" });
	if (found === undefined || "from" in found) return found?.from;
	// The message left the inbox, which was read before the entries below: it was accepted in those entries, or never
	// will be.
	const rest = await find({ after: found.ended });
	return rest !== undefined && "from" in rest ? rest.from : undefined;
}

async function isWaiting(
	{ journal }: Pick<Host, "journal">,
	storeKey: string,
	name: string,
): Promise<boolean> {
	return (await journal.inbox(storeKey)).some(({ id, runId }) => id === name || runId === name);
}
