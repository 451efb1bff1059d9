// The events of a session as its journal tells them, each with an id, from any place on (keeps I2, I3). They are made
// from entries and chunks alone, so they are the same for everyone, at any time, in any process.

import type { KeptEvent } from "../engine/index.ts";
import type { Entry } from "../facts/index.ts";
import {
	eventsExpired,
	evolve,
	type FoldOptions,
	initialSession,
	project,
	type RunEvent,
	type SessionState,
} from "../facts/index.ts";
import type { Journal, StoredChunk } from "../host/index.ts";
import { AgentState } from "../state/index.ts";
import { beginning, type EventPlace, eventId, invalidEventId, isBehind, readEventId } from "./event-id.ts";
import type { ExecuteComplete, ExecuteEvent } from "./execute-event.ts";
import { ExecuteProjection } from "./execute-projection.ts";

/** An event and its id. */
export interface LoggedEvent {
	readonly id: string;
	readonly event: ExecuteEvent | ExecuteComplete;
}

/** How a log is followed. */
export interface FollowOptions {
	/** Only events behind this id. Default: all that are kept. */
	readonly after?: string | undefined;
	/**
	 * When to end: `complete` behind the first execution that is over, `idle` (the default) behind the last one, `never`.
	 */
	readonly until?: "complete" | "idle" | "never" | undefined;
	/** Ends it. */
	readonly signal?: AbortSignal | undefined;
}

/** How many entries and chunks are read at a time, and events given at most. */
const pageSize = 100;
const batchSize = 256;

/** What is shown to a model of a result does not matter here. */
export const asItIs: FoldOptions = { show: (_, result) => result };

/**
 * Reads a log. Batches are bounded; an empty one says, once, that all that is there was given and what comes is live.
 *
 * @throws HoldfastError `invalid_event_id`; `events_expired` when what follows the id is no longer kept.
 */
export async function* followLog(
	journal: Journal,
	place: string,
	sessionId: string,
	options: FollowOptions = {},
): AsyncGenerator<readonly LoggedEvent[], void, void> {
	const { after, until = "idle", signal } = options;
	const reader = new LogReader(journal, place, sessionId);
	const changes = watchChanges(journal, place, signal);
	try {
		await reader.seek(after === undefined ? beginning : readEventId(after), after);
		let isLive = false;
		for (;;) {
			changes.seen();
			const { batches, isCaughtUp, isGone } = await reader.next();
			if (isGone) return;
			if (signal?.aborted) return;
			for (const batch of batches) {
				const complete = until === "complete" ? indexOfComplete(batch) : -1;
				yield complete < 0 ? batch : batch.slice(0, complete + 1);
				if (complete >= 0 || signal?.aborted) return;
			}
			if (!isCaughtUp) continue;
			if (until === "idle" && reader.isAtRest) return;
			if (!isLive) yield [];
			isLive = true;
			if (!(await changes.next())) return;
		}
	} finally {
		changes.stop();
	}
}

function indexOfComplete(batch: readonly LoggedEvent[]): number {
	return batch.findIndex(({ event }) => event.type === "execute_complete");
}

/** Reads on in a session's log, page by page. */
class LogReader {
	readonly #journal: Journal;
	readonly #place: string;
	readonly #projection: ExecuteProjection;
	#state: SessionState = initialSession(AgentState.initial());
	/** Where the next page begins. */
	#at = { seq: 0, sub: 0 };
	/** When the session was made: another time is another session. */
	#createdAt: number | undefined;
	/** Events up to here are known to whoever asked. */
	#known: EventPlace = beginning;
	/** The last event that was given. */
	#last: EventPlace | undefined;

	constructor(journal: Journal, place: string, sessionId: string) {
		this.#journal = journal;
		this.#place = place;
		this.#projection = new ExecuteProjection(sessionId);
	}

	/** Whether no run is under way where the reader stands. */
	get isAtRest(): boolean {
		const { run } = this.#state;
		return run === undefined || run.status !== "running";
	}

	get state(): SessionState {
		return this.#state;
	}

	/** Id of the last event that was read. */
	get lastEventId(): string | undefined {
		return this.#last === undefined ? undefined : eventId(this.#last);
	}

	/** Goes to the run in which an event lies; what comes up to the event is read again and not given. */
	async seek(place: EventPlace, id: string | undefined): Promise<void> {
		const { seq = 0, createdAt } = (await this.#journal.head(this.#place)) ?? {};
		this.#createdAt = createdAt;
		if (id !== undefined && place.seq > seq) throw invalidEventId(id);
		this.#known = place;
		const first = place.seq === 0 ? 0 : await this.#startOfRun(place.seq);
		const before = Math.max(0, first - 1);
		this.#state = { ...this.#state, seq: before };
		this.#at = { seq: before, sub: Number.MAX_SAFE_INTEGER };
	}

	/** The entry with which the run of an entry begins. */
	async #startOfRun(seq: number): Promise<number> {
		for (let until = seq, size = pageSize; until > 0; size *= 2) {
			const after = Math.max(0, until - size);
			const entries = await this.#upTo(until, after);
			const [first] = entries;
			if (first?.fact.kind === "folded" && first.seq > seq) throw eventsExpired(this.#place, seq, first.seq);
			const start = entries.findLast(({ fact }) => fact.kind === "run.started" || fact.kind === "folded");
			if (start !== undefined) return start.seq;
			until = after;
		}
		return 1;
	}

	/** Entries behind `after` up to `until`, or all up to there where the oldest were folded. */
	async #upTo(until: number, after: number): Promise<readonly Entry[]> {
		try {
			return await this.#journal.read(this.#place, { after, limit: until - after });
		} catch (error) {
			if ((error as { code?: unknown }).code !== "events_expired") throw error;
			const entries = await this.#journal.read(this.#place, { limit: until - after });
			if ((entries[0]?.seq ?? 0) > until) throw error;
			return entries.filter(({ seq }) => seq <= until);
		}
	}

	/** The next page; `isGone` when the session was removed. */
	async next(): Promise<{
		readonly batches: readonly (readonly LoggedEvent[])[];
		readonly isCaughtUp: boolean;
		readonly isGone?: boolean;
	}> {
		const entries = await this.#journal.read(this.#place, { after: this.#at.seq, limit: pageSize });
		const through = entries.at(-1)?.seq ?? this.#at.seq;
		const chunks =
			(await this.#journal.readChunks?.(this.#place, { after: this.#at, through, limit: pageSize })) ?? [];
		if (entries.length === 0 && chunks.length === 0 && !(await this.#stands()))
			return { batches: [], isCaughtUp: true, isGone: true };
		const events: LoggedEvent[] = [];
		let next = 0;
		const takeChunks = (seq: number): void => {
			for (; next < chunks.length && (chunks[next] as StoredChunk).seq <= seq; next++)
				this.#chunk(chunks[next] as StoredChunk, events);
		};
		const isCut = chunks.length === pageSize;
		for (const entry of entries) {
			takeChunks(entry.seq - 1);
			// Behind the last chunk of a full page there may be more before the next entry.
			if (isCut && next === chunks.length) return { batches: inBatches(events), isCaughtUp: false };
			this.#entry(entry, events);
		}
		takeChunks(through);
		return { batches: inBatches(events), isCaughtUp: entries.length < pageSize && !isCut };
	}

	async #stands(): Promise<boolean> {
		const head = await this.#journal.head(this.#place);
		this.#createdAt ??= head?.createdAt;
		return head?.createdAt === this.#createdAt && (head?.seq ?? 0) >= this.#at.seq;
	}

	#entry(entry: Entry, events: LoggedEvent[]): void {
		this.#state = evolve(this.#state, entry, asItIs);
		this.#at = { seq: entry.seq, sub: 0 };
		const event = project(this.#state, entry, undefined);
		if (event !== undefined) this.#give(event, { seq: entry.seq, sub: 0 }, events);
	}

	#chunk({ seq, sub, event }: StoredChunk, events: LoggedEvent[]): void {
		this.#at = { seq, sub };
		this.#give({ ...(event as KeptEvent), seq, sub }, { seq, sub }, events);
	}

	#give(event: RunEvent, place: { seq: number; sub: number }, events: LoggedEvent[]): void {
		for (const [part, told] of this.#projection.project(event).entries()) {
			const here = { ...place, part };
			this.#last = here;
			if (isBehind(here, this.#known)) events.push({ id: eventId(here), event: told });
		}
	}
}

function inBatches(events: readonly LoggedEvent[]): readonly (readonly LoggedEvent[])[] {
	if (events.length <= batchSize) return events.length === 0 ? [] : [events];
	const batches: LoggedEvent[][] = [];
	for (let from = 0; from < events.length; from += batchSize)
		batches.push(events.slice(from, from + batchSize));
	return batches;
}

/** Changes of a session: `next` resolves when something was committed since `seen`, false when it is over. */
function watchChanges(
	journal: Journal,
	place: string,
	signal: AbortSignal | undefined,
): { seen(): void; next(): Promise<boolean>; stop(): void } {
	let hasChanged = false;
	let wake: ((goesOn: boolean) => void) | undefined;
	const leave = journal.watch(place, () => {
		hasChanged = true;
		wake?.(true);
	});
	const abort = (): void => wake?.(false);
	signal?.addEventListener("abort", abort, { once: true });
	return {
		seen() {
			hasChanged = false;
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
