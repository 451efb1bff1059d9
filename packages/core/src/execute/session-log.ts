// The execution events of a session, each with an id, readable from any position: a projection of the session's own
// events. They derive from committed entries, so they are the same for every reader, at any time, in any process (keeps
// I3).

import { eventId, isAfter } from "../facts/index.ts";
import { type FollowedJournal, type FollowOptions, followPages, placeAfter } from "../following/index.ts";
import type { ExecuteComplete, ExecuteEvent } from "./execute-event.ts";
import { ExecuteProjection, type ShownError } from "./execute-projection.ts";

/** An event and its id. */
export interface LoggedEvent {
	/** The position of the event: pass it back as `after`. */
	readonly id: string;
	/** The event. */
	readonly event: ExecuteEvent | ExecuteComplete;
}

/** Options for following a log. */
export interface FollowLogOptions extends FollowOptions {
	/** Converts a run's error. Default: unchanged. */
	readonly shown?: ShownError | undefined;
	/**
	 * Called before each batch with the incarnation of its session: after a deletion, another session may be created
	 * under the same id.
	 */
	readonly reads?: ((incarnation: string | undefined) => void) | undefined;
}

/** The maximum number of events in a batch. */
const batchSize = 256;

/**
 * Follows a log. Batches are bounded. One empty batch marks the point after which all events are live.
 *
 * @throws HoldfastError `invalid_event_id`; `events_expired` if the events after the id are no longer stored.
 */
export async function* followLog(
	journal: FollowedJournal,
	storeKey: string,
	sessionId: string,
	options: FollowLogOptions = {},
): AsyncGenerator<readonly LoggedEvent[], void, void> {
	const { after, until = "idle", signal, shown, reads } = options;
	const known = placeAfter(after);
	const projection = new ExecuteProjection(sessionId, shown);
	let isLive = false;
	for await (const page of followPages(journal, storeKey, { after, signal })) {
		const { events, isCaughtUp, isAtRest } = page;
		reads?.(page.incarnation);
		const logged: LoggedEvent[] = [];
		for (const { place: at, event } of events)
			for (const [part, projected] of projection.project(event).entries()) {
				const here = { ...at, part };
				if (isAfter(here, known)) logged.push({ id: eventId(here), event: projected });
			}
		for (const batch of inBatches(logged)) {
			const complete = until === "complete" ? indexOfComplete(batch) : -1;
			yield complete < 0 ? batch : batch.slice(0, complete + 1);
			if (complete >= 0 || signal?.aborted) return;
		}
		if (!isCaughtUp) continue;
		if (until === "idle" && isAtRest) return;
		if (!isLive) yield [];
		isLive = true;
	}
}

function indexOfComplete(batch: readonly LoggedEvent[]): number {
	return batch.findIndex(({ event }) => event.type === "execute_complete");
}

function inBatches(events: readonly LoggedEvent[]): readonly (readonly LoggedEvent[])[] {
	if (events.length <= batchSize) return events.length === 0 ? [] : [events];
	const batches: LoggedEvent[][] = [];
	for (let from = 0; from < events.length; from += batchSize)
		batches.push(events.slice(from, from + batchSize));
	return batches;
}
