// The only reader of a session's journal: it reads page by page from any position, folds, and returns events with their
// positions (keeps I2, I3). It alone decides, by the incarnation, whether a session is still the one it has been reading.
//
// A reader has a position. `catchUp`, `next` and `hear` advance it; the first two detect that the session was deleted and
// created again, or that the following entries were folded. `catchUp` then starts over by itself; `next` reports it,
// because its caller has already delivered events. `hear` accepts new commits only if they directly follow the position.
import type { StoredChunk } from "./chunk.ts";
import type { Committed } from "./committed.ts";
import { type ChunkSource, type EntrySource, entriesBack, isExpired, readKept } from "./entry-pages.ts";
import { type EventPlace, invalidEventId } from "./event-id.ts";
import type { Entry } from "./fact.ts";
import { eventsExpired, journalCorrupt, named } from "./journal-errors.ts";
import { asItIs, emptySession, JournalFold, type PlacedEvent } from "./journal-fold.ts";
import { isUnderWay } from "./nested-waits.ts";
import type { FoldOptions, SessionState } from "./session-state.ts";

/** The part of a journal that the reader needs; every `Journal` has it. */
export interface JournalSource extends EntrySource, ChunkSource {
	/** Returns the session's incarnation and last seq; undefined if it does not exist. */
	head(key: string): SourceHead | undefined | Promise<SourceHead | undefined>;
	/** Reads entries, the chunks up to the last of them, and their session, as one consistent snapshot. */
	readPage?(
		key: string,
		options: { readonly after: { readonly seq: number; readonly sub: number }; readonly limit: number },
	): SourcePage | undefined | Promise<SourcePage | undefined>;
}

/** The result of `readPage`. */
export interface SourcePage extends SourceHead {
	readonly epoch: number;
	readonly entries: readonly Entry[];
	readonly chunks: readonly StoredChunk[];
}

interface SourceHead {
	readonly incarnation: string;
	readonly seq: number;
}

/** A previously folded state, and its session. */
export interface KnownState {
	readonly state: SessionState;
	/** Undefined if unknown; the session is then read from its start. */
	readonly incarnation: string | undefined;
}

/** Options of a reader. */
export interface ReaderOptions {
	/** How much of tool results a model sees. Default: all of them. */
	readonly fold?: FoldOptions;
	/** The start position. Default: the first stored entry. */
	readonly from?: KnownState;
	/** The session key that events contain. Default: none. */
	readonly sessionKey?: string;
	/** Whether pages include chunks. Default `entries`. */
	readonly reads?: "entries" | "entries and chunks";
	/** How many entries, and chunks, are read at a time. Default 1,000. */
	readonly pageSize?: number;
}

/** An entry or chunk that was read. */
export interface JournalItem {
	/** Absent for a chunk. */
	readonly entry: Entry | undefined;
	/** The boundaries before it, then its own event, if any. */
	readonly events: readonly PlacedEvent[];
	/** The session state after it. */
	readonly state: SessionState;
}

/** The result of one read. */
export interface Page {
	readonly items: readonly JournalItem[];
	/** Whether the end of the journal was reached. */
	readonly isCaughtUp: boolean;
}

export class JournalReader {
	readonly #source: JournalSource;
	readonly #key: string;
	readonly #options: ReaderOptions;
	readonly #pageSize: number;
	#fold: JournalFold;
	#incarnation: string | undefined;
	/** The last entry or chunk that was read. */
	#at: { readonly seq: number; readonly sub: number };
	/** Whether nothing has been read before this position, so that a folded entry is not a gap. */
	#isAtStart = true;
	/** The epoch at which everything had been read; undefined if unknown. */
	#caughtUpAt: number | undefined;

	constructor(source: JournalSource, key: string, options: ReaderOptions = {}) {
		this.#source = source;
		this.#key = key;
		this.#options = options;
		this.#pageSize = options.pageSize ?? 1_000;
		const { state, incarnation } = options.from ?? {};
		// Without its session, a state is useless.
		this.#fold = this.#foldFrom((incarnation && state) || emptySession());
		this.#incarnation = incarnation;
		this.#at = { seq: this.state.seq, sub: 0 };
	}

	/** The session state at the current position. */
	get state(): SessionState {
		return this.#fold.state;
	}

	/** The incarnation of the session; undefined if unknown. */
	get incarnation(): string | undefined {
		return this.#incarnation;
	}

	/** Whether no run is in progress at this position. */
	get isAtRest(): boolean {
		const { run } = this.state;
		return run === undefined || !isUnderWay(run);
	}

	/** Folds everything added since, without returning events. */
	async catchUp(): Promise<SessionState> {
		let read: readonly Entry[] = [];
		let before: SourceHead | undefined;
		for (;;) {
			// Checked again after reading: earlier data belongs to the session that exists now.
			const head = await this.#source.head(this.#key);
			if (this.#isSession(head)) {
				for (const entry of read) this.#fold.add(entry);
				this.#at = { seq: this.state.seq, sub: 0 };
			} else {
				this.restart();
				this.#incarnation = head?.incarnation;
			}
			if ((head?.seq ?? 0) <= this.#at.seq) return this.state;
			// The head announces entries that do not exist: reading again would loop forever.
			if (before !== undefined && read.length === 0 && isSameHead(before, head))
				throw journalCorrupt(`session ${named(this.#key)} ends before entry ${head?.seq}`);
			before = head;
			read = await this.#entries().catch((error) => {
				if (!isExpired(error)) throw error;
				this.restart();
				before = undefined;
				return [];
			});
		}
	}

	/**
	 * Returns the next page, or undefined if the session has been replaced or deleted. Returns no entries of the new
	 * session; the next call reads it from its beginning. Rejects with `events_expired` if the next entries were folded.
	 */
	async next(): Promise<Page | undefined> {
		const withChunks = this.#options.reads === "entries and chunks";
		if (withChunks && this.#source.readPage !== undefined)
			return this.#turn(await this.#source.readPage(this.#key, { after: this.#at, limit: this.#pageSize }));
		if (this.#incarnation === undefined) await this.#begin();
		else if (!withChunks) {
			// Most checks find nothing new and need no read.
			const head = await this.#source.head(this.#key);
			if (!this.#isSession(head)) return this.#another();
			if (head?.seq === this.#at.seq) return { items: [], isCaughtUp: true };
		}
		const entries = await this.#entries();
		const chunks = withChunks ? await this.#chunks(entries.at(-1)?.seq ?? this.#at.seq) : [];
		// Checked after reading: earlier data belongs to the session that exists now.
		if (!(await this.#isSame())) return this.#another();
		return this.#read(entries, chunks);
	}

	/** Returns the next page, which was already read. */
	#turn(page: SourcePage | undefined): Page | undefined {
		this.#incarnation ??= page?.incarnation;
		if (!this.#isSession(page)) return this.#another();
		if (page === undefined) return { items: [], isCaughtUp: true };
		const read = this.#read(page.entries, page.chunks);
		this.#caughtUpAt = read.isCaughtUp ? page.epoch : undefined;
		return read;
	}

	/**
	 * Returns the next page from commits made while this reader was at the end of the session. The commits may include
	 * entries already read. Returns undefined if they do not follow the position: the entries then have to be read.
	 */
	hear(commits: readonly Committed[]): Page | undefined {
		if (this.#caughtUpAt === undefined) return undefined;
		let { seq } = this.#at;
		const entries: Entry[] = [];
		const chunks: StoredChunk[] = [];
		for (const { incarnation, epoch, after, read } of commits) {
			if (incarnation !== this.#incarnation || epoch !== this.#caughtUpAt || after > seq) return undefined;
			const committed = read();
			for (const chunk of committed.chunks) if (this.#isAhead(chunk)) chunks.push(chunk);
			for (const entry of committed.entries) {
				if (entry.seq <= seq) continue;
				seq = entry.seq;
				entries.push(entry);
			}
		}
		if (entries.length >= this.#pageSize || chunks.length >= this.#pageSize) return undefined;
		return this.#read(entries, chunks);
	}

	#isAhead({ seq, sub }: StoredChunk): boolean {
		return seq > this.#at.seq || (seq === this.#at.seq && sub > this.#at.sub);
	}

	/** Starts over at the first stored entry. Folded entries are read in their folded form. */
	restart(): void {
		this.#fold = this.#foldFrom(emptySession());
		this.#at = { seq: 0, sub: 0 };
		this.#isAtStart = true;
		this.#caughtUpAt = undefined;
	}

	/**
	 * Moves to the start of the run that contains an event, so that later entries can be folded.
	 *
	 * Rejects with `invalid_event_id` for a future event, `events_expired` if it was folded.
	 */
	async seek(place: EventPlace, id: string | undefined): Promise<void> {
		this.#caughtUpAt = undefined;
		if (place.seq === 0 && this.#source.readPage !== undefined) {
			// Before the first entry of the session, which has not been read yet.
			this.restart();
			this.#incarnation = undefined;
			return;
		}
		const head = await this.#source.head(this.#key);
		this.#incarnation = head?.incarnation;
		if (id !== undefined && place.seq > (head?.seq ?? 0)) throw invalidEventId(id);
		const before = Math.max(0, (await this.#startOfRun(place)) - 1);
		this.#fold = this.#foldFrom({ ...emptySession(), seq: before });
		this.#at = { seq: before, sub: Number.MAX_SAFE_INTEGER };
		this.#isAtStart = true;
	}

	/**
	 * Returns the first entry of the run that contains a position, or follows it; 0 if the position precedes the first
	 * run.
	 */
	async #startOfRun({ seq, sub }: EventPlace): Promise<number> {
		if (sub > 0) {
			// After the last entry of a run, none of its events are left.
			const [entry] = await readKept(this.#source, this.#key, seq - 1, 1);
			if (entry?.seq === seq && entry.fact.kind === "run.ended") return seq + 1;
		}
		for await (const entry of entriesBack(this.#source, this.#key, seq))
			if (entry.fact.kind === "run.started" || entry.fact.kind === "folded") return entry.seq;
		return Math.min(seq, 1);
	}

	#foldFrom(state: SessionState): JournalFold {
		return new JournalFold(state, this.#options.fold ?? asItIs, this.#options.sessionKey);
	}

	/** Starts with the current session, if any. */
	async #begin(): Promise<void> {
		this.#incarnation = (await this.#source.head(this.#key))?.incarnation;
	}

	#another(): undefined {
		this.restart();
		this.#incarnation = undefined;
	}

	async #isSame(): Promise<boolean> {
		return this.#isSession(await this.#source.head(this.#key));
	}

	/** Whether it is the session being read, and was not reset to an earlier state. */
	#isSession(head: SourceHead | undefined): boolean {
		return head?.incarnation === this.#incarnation && (head?.seq ?? 0) >= this.#at.seq;
	}

	async #entries(): Promise<readonly Entry[]> {
		return this.#source.read(this.#key, { after: this.#at.seq, limit: this.#pageSize });
	}

	async #chunks(through: number): Promise<readonly StoredChunk[]> {
		const page = { after: this.#at, through, limit: this.#pageSize };
		return (await this.#source.readChunks?.(this.#key, page)) ?? [];
	}

	/** Folds a page. Each chunk follows the entry after which it was emitted. */
	#read(entries: readonly Entry[], chunks: readonly StoredChunk[]): Page {
		const [first] = entries;
		if (first?.fact.kind === "folded" && !this.#isAtStart)
			throw eventsExpired(this.#key, this.#at.seq, first.seq);
		const items: JournalItem[] = [];
		const isCut = chunks.length === this.#pageSize;
		let next = 0;
		const takeChunks = (seq: number): void => {
			for (let chunk = chunks[next]; chunk !== undefined && chunk.seq <= seq; chunk = chunks[++next]) {
				this.#at = { seq: chunk.seq, sub: chunk.sub };
				items.push({ entry: undefined, events: this.#fold.readChunk(chunk), state: this.state });
			}
		};
		for (const entry of entries) {
			takeChunks(entry.seq - 1);
			// After the last chunk of a full page, more chunks may precede the next entry.
			if (isCut && next === chunks.length) return { items, isCaughtUp: false };
			const events = this.#fold.read(entry);
			this.#isAtStart = false;
			this.#at = { seq: entry.seq, sub: 0 };
			items.push({ entry, events, state: this.state });
		}
		takeChunks(this.#at.seq);
		return { items, isCaughtUp: entries.length < this.#pageSize && !isCut };
	}
}

function isSameHead(one: SourceHead, other: SourceHead | undefined): boolean {
	return other?.incarnation === one.incarnation && other.seq === one.seq;
}
