// The events of one session, each with an id: past events first, then live ones. They derive only from committed entries,
// so they are the same for everyone, at any time, in any process (keeps I3).
import { checkOptions, HoldfastTypeError, optionNames } from "@holdfast/upp";
import { endsExecution, eventId, isAfter, type RunEvent } from "../facts/index.ts";
import { type Host, readStoreKey } from "../host/index.ts";
import { type FollowedJournal, followPages, placeAfter } from "./follow-pages.ts";
import { leavable } from "./leavable.ts";

const followNames = optionNames<FollowOptions>({
	after: "text",
	until: ["complete", "idle", "never"],
	signal: "signal",
});

/** An event of a session. */
export interface FollowedEvent<Event = RunEvent> {
	/** The event's position in its session, which never changes its meaning. Opaque: pass it back as `after`. */
	readonly id: string;
	/** The event. */
	readonly event: Event;
}

/** Options for following a session. */
export interface FollowOptions {
	/** Only events after this id. Default: all stored events. */
	readonly after?: string | undefined;
	/**
	 * When to end: `complete` after the first execution that has ended or waits for an outside answer, `idle` (the
	 * default) after the last one, or `never`. A run that waits for a time or for its model counts as running.
	 */
	readonly until?: "complete" | "idle" | "never" | undefined;
	/** Ends following when it fires. */
	readonly signal?: AbortSignal | undefined;
}

/**
 * Follows a session of a store, regardless of the worker that owns it: its events from any position on, including the
 * boundaries of turns and steps. The model's text arrives in pieces if its agent has `keepDeltasMs`, otherwise as
 * complete messages. Runs never wait for followers. Following ends as `until` defines, and when the session is deleted.
 *
 * Rejects with `invalid_event_id` for an id that no event of the session has, and with `events_expired` if the events
 * after the id are no longer stored; then follow from the beginning.
 *
 * @throws HoldfastError `invalid_argument` without a host or a key.
 * @param key The key as `journal.list()` returns it; `session.follow()` does the same for a session handle.
 * @example
 * import { Agent, followSession, memoryHost } from "holdfast";
 * import { scriptedModel } from "@holdfast/testing";
 *
 * const host = memoryHost();
 * const clerk = new Agent({ model: scriptedModel(["Good morning."]), host });
 * await (await clerk.session("ticket-7").send("Hello")).result();
 *
 * let last: string | undefined;
 * for await (const { id, event } of followSession(host, "ticket-7")) {
 * 	console.log(id, event.type); // 1.0.0 run_start, 2.0.0 input, … 4.0.0 run_end
 * 	last = id;
 * }
 * for await (const { event } of followSession(host, "ticket-7", { after: last })) console.log(event.type); // nothing
 */
export function followSession(
	host: Pick<Host, "journal">,
	key: string,
	options: FollowOptions = {},
): AsyncIterableIterator<FollowedEvent> {
	if (typeof host?.journal !== "object" || typeof key !== "string")
		throw new HoldfastTypeError(
			"invalid_argument",
			"followSession(host, key) takes a host and the key of a session.",
		);
	return followStoreKey(host.journal, key, readStoreKey(key).key, options);
}

/** Follows the session under a store key. `sessionKey` is the key that its events contain. */
export function followStoreKey(
	journal: FollowedJournal,
	storeKey: string,
	sessionKey: string,
	options: FollowOptions = {},
): AsyncIterableIterator<FollowedEvent> {
	checkOptions(options, followNames, { of: "follow()" });
	return leavable(options.signal, (signal) => events(journal, storeKey, sessionKey, { ...options, signal }));
}

async function* events(
	journal: FollowedJournal,
	storeKey: string,
	sessionKey: string,
	{ after, until = "idle", signal }: FollowOptions,
): AsyncGenerator<FollowedEvent, void, void> {
	const known = placeAfter(after);
	for await (const page of followPages(journal, storeKey, { after, sessionKey, signal })) {
		for (const { place: at, event } of page.events) {
			if (!isAfter(at, known)) continue;
			yield { id: eventId(at), event };
			if (signal?.aborted) return;
			if (until === "complete" && endsExecution(event)) return;
		}
		if (until === "idle" && page.isCaughtUp && page.isAtRest) return;
	}
}
