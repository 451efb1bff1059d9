// The fold of a journal's entries, one after another: the only code outside a run that calls `evolve` (keeps I2). It also
// yields the events: boundaries from their marks, chunks, and the projection of each entry.
import { isHoldfastError } from "@holdfast/upp";
import { AgentState } from "../state/index.ts";
import type { ChunkEvent, StoredChunk } from "./chunk.ts";
import { type EventPlace, placeBeforeChunk, placeBeforeEntry } from "./event-id.ts";
import type { RunEvent } from "./events.ts";
import { evolve } from "./evolve.ts";
import type { BoundaryMark, Entry } from "./fact.ts";
import { journalCorrupt } from "./journal-errors.ts";
import { beginsMarks, boundaryOf } from "./marks.ts";
import { project } from "./project.ts";
import { type FoldOptions, initialSession, type SessionState } from "./session-state.ts";
import { SuppliedMarks } from "./supply-marks.ts";

/** An event with its position. */
export interface PlacedEvent {
	/** The position. */
	readonly place: EventPlace;
	/** The event. */
	readonly event: RunEvent;
}

/** For readers that do not need the model's view of a result. */
export const asItIs: FoldOptions = { show: (_, result) => result };

/** Returns a session before its first entry. */
export function emptySession(): SessionState {
	return initialSession(AgentState.initial());
}

/** Returns the state after more entries. */
export function foldEntries(entries: Iterable<Entry>, from: SessionState = emptySession()): SessionState {
	const fold = new JournalFold(from);
	for (const entry of entries) fold.add(entry);
	return fold.state;
}

/** Returns the events of entries that begin with the start of a run. */
export function eventsOf(entries: readonly Entry[]): readonly RunEvent[] {
	const [first] = entries;
	if (first === undefined) return [];
	const fold = new JournalFold({ ...emptySession(), seq: first.seq - 1 });
	return entries.flatMap((entry) => fold.read(entry).map(({ event }) => event));
}

/** If reading an entry fails because it lacks a part, the journal is damaged. */
function readable<T>({ seq, fact }: Entry, read: () => T): T {
	try {
		return read();
	} catch (error) {
		if (isHoldfastError(error)) throw error;
		throw journalCorrupt(`entry ${seq} (${fact.kind}) lacks a part`, error);
	}
}

export class JournalFold {
	readonly #options: FoldOptions;
	readonly #sessionKey: string | undefined;
	readonly #supplied = new SuppliedMarks();
	/** Whether the current run was recorded with its boundaries. */
	#hasMarks = true;
	#state: SessionState;

	/** `sessionKey` is the key that events contain. */
	constructor(from: SessionState, options: FoldOptions = asItIs, sessionKey?: string) {
		this.#state = from;
		this.#options = options;
		this.#sessionKey = sessionKey;
	}

	get state(): SessionState {
		return this.#state;
	}

	/** Folds an entry. */
	add(entry: Entry): void {
		this.#state = readable(entry, () => evolve(this.#state, entry, this.#options));
	}

	/** Folds an entry and returns its events: the boundaries before it, then its own. */
	read(entry: Entry): readonly PlacedEvent[] {
		return readable(entry, () => this.#read(entry));
	}

	#read(entry: Entry): readonly PlacedEvent[] {
		const { seq, fact } = entry;
		if (beginsMarks(fact)) this.#hasMarks = fact.marks !== undefined;
		const supplied = this.#supplied.before(entry);
		const marks = this.#hasMarks ? fact.marks : supplied;
		const events = this.#boundaries(marks, (index) => placeBeforeEntry(seq, index));
		this.add(entry);
		this.#supplied.after(entry, this.#state);
		const event = project(this.#state, entry, this.#sessionKey);
		if (event !== undefined) events.push({ place: { seq, sub: 0, part: 0 }, event });
		return events;
	}

	/** Returns the events of a chunk: the boundaries before it, then its own. */
	readChunk({ seq, sub, event: kept }: StoredChunk): readonly PlacedEvent[] {
		const { marks: recorded, ...event } = kept as ChunkEvent;
		const supplied = this.#supplied.beforeChunk(kept as ChunkEvent);
		const marks = this.#hasMarks ? recorded : supplied;
		const events = this.#boundaries(marks, (index) => placeBeforeChunk({ seq, sub }, index), sub);
		events.push({ place: { seq, sub, part: 0 }, event: { ...event, seq, sub } as RunEvent });
		return events;
	}

	/** `sub`: the chunk's; absent before an entry. */
	#boundaries(
		marks: readonly BoundaryMark[] = [],
		placeOf: (index: number) => EventPlace,
		sub?: number,
	): PlacedEvent[] {
		return marks.map((mark, index) => {
			const place = placeOf(index);
			const at = { seq: place.seq, sub: sub ?? place.sub };
			return { place, event: boundaryOf(mark, at, this.#state) };
		});
	}
}
