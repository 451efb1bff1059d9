// Finds when a message that waits for the current run starts a run of its own, or enters that one: the journal shows it,
// whichever worker accepts it (keeps I2).
import { followSession, type Host } from "holdfast";
import { afterEntry } from "holdfast/execute";
import { codeOf } from "./client-errors.ts";

/** A message that waits. */
export interface WaitingMessage {
	readonly storeKey: string;
	/** The run it will begin, or its own id where it enters the run under way. */
	readonly waitsFor: string;
	/** An id before the event with which it is taken in. */
	readonly after: string;
}

type Followed = Parameters<typeof followSession>[2];

/**
 * The id after which its events begin, once it was taken in. Undefined where it will not be: the session was deleted, or
 * the message taken out of its inbox; and when the signal aborts. It needs nothing but the store, so it may be asked
 * anywhere and any number of times.
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
	// It left the inbox, which was looked at before what follows is read: it was taken in there, or never will be.
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
