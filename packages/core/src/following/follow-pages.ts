// The committed entries of a session, first page by page and then live: the loop that all followers share. It holds only
// a position, so a reader that returns with an id misses nothing (keeps I3, I7).
import {
	beginning,
	type Committed,
	type EventPlace,
	type JournalItem,
	JournalReader,
	type JournalSource,
	type PlacedEvent,
	readEventId,
} from "../facts/index.ts";

/** The part of a journal that following needs; every `Journal` has it. */
export interface FollowedJournal extends JournalSource {
	/** Calls `changed` after a commit of the session. Returns a function that stops it. */
	watch(key: string, changed: (commits?: readonly Committed[]) => void): () => void;
}

/** Where following starts and when it ends. */
export interface PagesOptions {
	/** The id of the last event that you have. Default: reading starts at the session's first event. */
	readonly after?: string | undefined;
	/** The key that events contain. Default: none. */
	readonly sessionKey?: string | undefined;
	/** Ends following when it fires. */
	readonly signal?: AbortSignal | undefined;
}

/** A page of committed events. */
export interface EventPage {
	/** The entries and chunks that were read, each with its events. */
	readonly items: readonly JournalItem[];
	/** The events, in order. They include those up to the known id, from the start of their run. */
	readonly events: readonly PlacedEvent[];
	/** Whether there are no more entries for now: the next page arrives after a commit. */
	readonly isCaughtUp: boolean;
	/** Whether no run is in progress. */
	readonly isAtRest: boolean;
	/**
	 * The incarnation that was read: after a deletion, another session may be created under the same key. Undefined
	 * before the first.
	 */
	readonly incarnation: string | undefined;
}

/** The number of entries and chunks read at a time. */
const pageSize = 100;
/** The maximum size, in characters, of buffered commits for a follower; beyond it, all are read again. */
const keptCharacters = 65_536;

/** Returns the position after which a reader requests events. */
export function placeAfter(id: string | undefined): EventPlace {
	return id === undefined ? beginning : readEventId(id);
}

/**
 * Follows a session until it is deleted, the signal fires, or the caller stops.
 *
 * @throws HoldfastError `invalid_event_id`; `events_expired` if the events after the id are no longer stored.
 */
export async function* followPages(
	journal: FollowedJournal,
	key: string,
	{ after, sessionKey, signal }: PagesOptions = {},
): AsyncGenerator<EventPage, void, void> {
	const naming = sessionKey === undefined ? {} : { sessionKey };
	const reader = new JournalReader(journal, key, { reads: "entries and chunks", pageSize, ...naming });
	await reader.seek(placeAfter(after), after);
	// Commits after this are noticed; earlier ones are read next.
	const changes = watchChanges(journal, key, signal);
	try {
		for (;;) {
			const commits = changes.take();
			const page = (commits && reader.hear(commits)) ?? (await reader.next());
			if (page === undefined || signal?.aborted) return;
			const { items, isCaughtUp } = page;
			const events = items.flatMap((item) => item.events);
			yield { items, events, isCaughtUp, isAtRest: reader.isAtRest, incarnation: reader.incarnation };
			if (isCaughtUp && !(await changes.next())) return;
		}
	} finally {
		changes.stop();
	}
}

/**
 * Watches a session: `next` resolves when something was committed since `take`, and with false at the end. `take` returns
 * the commits since its last call, or undefined if they must be read.
 */
function watchChanges(
	journal: FollowedJournal,
	key: string,
	signal: AbortSignal | undefined,
): { take(): readonly Committed[] | undefined; next(): Promise<boolean>; stop(): void } {
	let hasChanged = false;
	let commits: Committed[] | undefined;
	let [count, size] = [0, 0];
	let wake: ((isLive: boolean) => void) | undefined;
	const leave = journal.watch(key, (given) => {
		hasChanged = true;
		if (given === undefined) commits = undefined;
		for (const commit of given ?? []) {
			count += commit.count;
			size += commit.size;
			// A slow follower buffers nothing and reads the journal instead.
			if (count < pageSize && size <= keptCharacters) commits?.push(commit);
			else commits = undefined;
		}
		wake?.(true);
	});
	const abort = (): void => wake?.(false);
	signal?.addEventListener("abort", abort, { once: true });
	return {
		take() {
			const taken = commits;
			hasChanged = false;
			commits = [];
			[count, size] = [0, 0];
			return taken;
		},
		next() {
			if (signal?.aborted) return Promise.resolve(false);
			if (hasChanged) return Promise.resolve(true);
			return new Promise((resolve) => {
				wake = resolve;
			});
		},
		stop() {
			leave();
			signal?.removeEventListener("abort", abort);
			wake?.(false);
		},
	};
}
