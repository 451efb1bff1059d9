// The events of all sessions of a store, emitted when they are committed: each session's events in order, with the ids of
// its own stream. Holds a reader for a bounded number of active sessions, and only a position for the others (keeps I7).
import { checkOptions, HoldfastTypeError, optionNames } from "@holdfast/upp";
import { type EventPlace, eventId, isAfter, isExpired, isUnreadable, JournalReader } from "../facts/index.ts";
import {
	type Change,
	type ChangeLog,
	type Host,
	type MaybePromise,
	readStoreKey,
	watchAll,
} from "../host/index.ts";
import { placeAfter } from "./follow-pages.ts";
import type { FollowedEvent } from "./follow-session.ts";
import { leavable } from "./leavable.ts";

const followAllNames = optionNames<FollowAllOptions>({
	after: true,
	known: "function",
	unreadable: "function",
	deleted: "function",
	until: ["caught-up", "never"],
	signal: "signal",
});

/** An event of one session of a store. */
export interface StoreEvent extends FollowedEvent {
	/** The key of the session, as `journal.list()` returns it. */
	readonly key: string;
	/** The incarnation of the session with that key: a deleted session may be recreated, and its ids start again. */
	readonly incarnation: string;
	/** Where to continue: reading the store's changes after this position returns this event again and all later ones. */
	readonly position: number;
}

/** Options for following a store. */
export interface FollowAllOptions {
	/**
	 * The position of the last known event. `now`: only future events. Default 0: all existing sessions, from their first
	 * stored event.
	 */
	readonly after?: number | "now" | undefined;
	/**
	 * Returns the id of the last event of a session that you have; only later events are delivered. Called when the
	 * session is first encountered. Default: a session is delivered from the start of the run that contains the change,
	 * or from its beginning if `after` is 0.
	 */
	readonly known?: ((key: string, incarnation: string) => MaybePromise<string | undefined>) | undefined;
	/**
	 * Called for a session that is damaged or was written by a newer release. The session is skipped until it changes
	 * again, and then read from its last position. Must not throw. Default: following rejects with `journal_corrupt` or
	 * `journal_newer`.
	 */
	readonly unreadable?: ((key: string, error: unknown) => void) | undefined;
	/** Called when a session was deleted. Must not throw. */
	readonly deleted?: ((key: string) => void) | undefined;
	/** `caught-up`: end once all committed events were delivered. Default `never`. */
	readonly until?: "caught-up" | "never" | undefined;
	/** Ends following when it fires. */
	readonly signal?: AbortSignal | undefined;
}

/** The number of sessions that can be read on without going back to the start of their run. */
const readersAtOnce = 256;
/** The number of sessions whose delivered position is remembered. */
const rememberedSessions = 100_000;

/**
 * Follows all sessions of a store, regardless of the workers that own them, until you stop iterating or the signal fires.
 * A deleted session has no further events. The model's text arrives with the entry after it.
 *
 * With `known`, no event is missed or repeated after a restart. Without it, a run in progress is delivered from its start
 * again, and of sessions that changed in between, only the last run.
 *
 * Rejects with `changes_expired` for a position that the store no longer remembers, and with the errors of reading a
 * session.
 *
 * @example
 * import { Agent, followAll, memoryHost } from "holdfast";
 * import { scriptedModel } from "@holdfast/testing";
 *
 * const host = memoryHost();
 * const clerk = new Agent({ model: scriptedModel(() => "Good morning."), host });
 * for (const key of ["ticket-7", "ticket-8"]) await (await clerk.session(key).send("Hello")).result();
 *
 * let ended = 0;
 * for await (const { key, id, event } of followAll(host)) {
 * 	console.log(key, id, event.type); // ticket-7 1.0.0 run_start, …
 * 	if (event.type === "run_end" && ++ended === 2) break;
 * }
 */
export function followAll(
	host: Pick<Host, "journal"> & { readonly changes: ChangeLog },
	options: FollowAllOptions = {},
): AsyncIterableIterator<StoreEvent> {
	checkOptions(options, followAllNames, { of: "followAll()" });
	if (typeof host?.changes?.watch !== "function")
		throw new HoldfastTypeError(
			"invalid_argument",
			"followAll(host) takes a host with the port `changes`, such as `sqliteHost(path)`.",
		);
	return leavable(options.signal, (signal) => events(host, { ...options, signal }));
}

async function* events(
	{ journal, changes }: Pick<Host, "journal"> & { readonly changes: ChangeLog },
	{ after = 0, known, unreadable, deleted, until = "never", signal }: FollowAllOptions,
): AsyncGenerator<StoreEvent, void, void> {
	let position = after === "now" ? await changes.position() : after;
	const followed = new Followed(journal, after === 0 ? "whole" : "last run", known);
	const from = { after: position, until, ...(signal === undefined ? {} : { signal }) };
	for await (const change of watchAll(changes, from)) {
		if (change.kind === "deleted") {
			followed.forget(change.key);
			deleted?.(change.key);
		} else
			try {
				for await (const event of followed.read(change)) {
					yield { key: change.key, incarnation: change.incarnation, position, ...event };
					if (signal?.aborted) return;
				}
			} catch (error) {
				if (unreadable === undefined || !isUnreadable(error)) throw error;
				followed.leave(change.key);
				unreadable(change.key, error);
			}
		position = change.position;
	}
}

/** How far a session's events were delivered. */
interface Cursor {
	readonly reader: JournalReader;
	given: EventPlace;
}

/** The followed sessions. */
class Followed {
	readonly #journal: Host["journal"];
	readonly #unknown: "whole" | "last run";
	readonly #known: FollowAllOptions["known"];
	/** The most recently used one is last. */
	readonly #cursors = new Map<string, Cursor>();
	/** Delivered positions of sessions without a cursor. */
	readonly #given = new Map<
		string,
		{ readonly place: EventPlace; readonly incarnation: string | undefined }
	>();

	constructor(journal: Host["journal"], unknown: "whole" | "last run", known: FollowAllOptions["known"]) {
		this.#journal = journal;
		this.#unknown = unknown;
		this.#known = known;
	}

	forget(key: string): void {
		this.#cursors.delete(key);
		this.#given.delete(key);
	}

	/** Drops a session's reader, so that its next change is read from the last delivered position. */
	leave(key: string): void {
		const cursor = this.#cursors.get(key);
		if (cursor === undefined) return;
		this.#cursors.delete(key);
		this.#remember(key, cursor.given, cursor.reader.incarnation);
	}

	/** Yields the events of a session that were not delivered yet. */
	async *read(change: Change): AsyncGenerator<FollowedEvent, void, void> {
		const cursor = await this.#cursorOf(change);
		const { reader } = cursor;
		for (;;) {
			const page = await reader.next().catch((error) => {
				if (!isExpired(error)) throw error;
				reader.restart(); // folded entries are missing, which must not hide later ones
				return undefined;
			});
			if (page === undefined && reader.incarnation === undefined) cursor.given = placeAfter(undefined);
			for (const { events: read } of page?.items ?? [])
				for (const { place, event } of read) {
					if (!isAfter(place, cursor.given)) continue;
					cursor.given = place;
					yield { id: eventId(place), event };
				}
			if (page?.isCaughtUp) return;
		}
	}

	async #cursorOf({ key, seq, incarnation }: Change): Promise<Cursor> {
		const cursor = this.#cursors.get(key) ?? (await this.#begin(key, seq, incarnation));
		this.#cursors.delete(key);
		this.#cursors.set(key, cursor);
		for (const [oldest, { given, reader }] of this.#cursors) {
			if (this.#cursors.size <= readersAtOnce) break;
			this.#cursors.delete(oldest);
			this.#remember(oldest, given, reader.incarnation);
		}
		return cursor;
	}

	#remember(key: string, place: EventPlace, incarnation: string | undefined): void {
		this.#given.set(key, { place, incarnation });
		for (const oldest of this.#given.keys()) {
			if (this.#given.size <= rememberedSessions) break;
			this.#given.delete(oldest);
		}
	}

	async #begin(key: string, seq: number, incarnation: string): Promise<Cursor> {
		const reader = new JournalReader(this.#journal, key, {
			reads: "entries and chunks",
			sessionKey: readStoreKey(key).key,
		});
		const remembered = this.#given.get(key);
		this.#given.delete(key);
		const isSame = remembered?.incarnation === incarnation;
		const id = isSame ? eventId(remembered.place) : await this.#known?.(key, incarnation);
		const given = placeAfter(id);
		const start = id !== undefined || this.#unknown === "whole" ? given : { ...given, seq };
		await reader.seek(start, id).catch((error) => {
			if (!isExpired(error)) throw error; // its run was folded: reading continues with the stored entries
		});
		return { reader, given };
	}
}
