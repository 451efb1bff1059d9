// Shared by all watchers of one session: one reader of the service, one serialisation, one window of recent chunks. The
// reader never waits for a watcher, so no watcher slows down a run or another watcher. The window is bounded: a watcher
// that lags by more than `maxBufferedBytes` has to read from the service itself (keeps I7).
import type { LoggedEvent } from "holdfast/execute";
import { type Chunk, chunksOf } from "./chunk.ts";
import { compareEventIds } from "./event-id.ts";
import { isGone } from "./is-gone.ts";
import { isComplete } from "./record.ts";
import { unheld } from "./stream-table.ts";

/** Bytes of the window that are kept for returning watchers while no watcher lags. */
const recentBytes = 64 * 1024;
/** More watchers than this are a crowd: this many are woken at a time, then other work runs. */
const crowd = 32;
/** The share of the time that waking a crowd may take. */
const crowdShare = 0.2;
/**
 * Milliseconds between two reads at the live end, so that commits in between are read, serialised and sent together: a
 * lower value is faster, a higher one cheaper. In a busy process with late timers, it is a multiple of their delay, up to
 * a limit. A short run has ended before the `first` read and needs no other.
 */
const readEvery = { first: 20, least: 4, timesLate: 4, most: 50 };
/** Maximum number of pauses before the first read while timers are late. */
const firstTurns = 4;
/** Batches of this size are history and should not be delayed. */
const full = 64;
/** Maximum time in milliseconds that a crowd waits for events. */
const crowdPatience = 250;
/** This many gathered events are emitted to a crowd at once, without waiting. */
const gathered = 4096;

/** A watcher as the feed sees it. */
export interface FeedWatcher {
	/** Number of the next chunk it takes. */
	next: number;
	/** A chunk is available. */
	wake(): void;
	/** It lags too far and has to leave. */
	drop(): void;
}

/** How often the feeds of a process read at the live end: all of them share the measured delay of timers. */
export interface Pace {
	/** Milliseconds between two reads. */
	every: number;
}

/** Returns the pace of a process that is not busy. */
export function steadyPace(): Pace {
	return { every: readEvery.least };
}

/** The parts of a feed. */
export interface FeedOptions {
	/** Follows the session from `after` until the signal fires, and reports which incarnation it reads. */
	readonly follow: (
		signal: AbortSignal,
		reads: (incarnation: string | undefined) => void,
	) => AsyncIterable<readonly LoggedEvent[]>;
	/** The id after which the feed starts. */
	readonly after: string | undefined;
	readonly maxBufferedBytes: number;
	readonly pace: Pace;
	readonly ended: () => void;
	readonly failed: (error: unknown) => void;
}

/** The live end of one session. */
export class Feed {
	readonly #options: FeedOptions;
	readonly #abort = new AbortController();
	readonly #watchers = new Set<FeedWatcher>();
	readonly #completions = new Set<{ readonly after: string; settle: () => void }>();
	#chunks: Chunk[] = [];
	/** Number of the first chunk of the window. */
	#first = 0;
	#bytes = 0;
	/** The id before the window; undefined if the window contains the session's first event. */
	#before: string | undefined;
	#lastId: string | undefined;
	#gathered: LoggedEvent[] = [];
	/** Whether watchers are being woken, or the pause after it runs: events in between are collected. */
	#isNotifying = false;
	/** Whether the window received anything since the last pass over the crowd started. */
	#hasNews = false;
	#endRest: () => void = () => {};
	#isOpen = true;
	#isStarted = false;
	/** All watchers have the events up to this id, although they may not have been read here. */
	#known: string | undefined;
	#endPause: () => void = () => {};
	/** Whether new entries are read at once, because reading will soon end. */
	#isHurried = false;
	/** The id of the last end of an execution that was read. */
	#lastEnd: string | undefined;
	#incarnation: string | undefined;

	constructor(options: FeedOptions) {
		this.#options = options;
		this.#before = options.after;
		this.#lastId = options.after;
	}

	/** The incarnation it reads; undefined until it has read. */
	get incarnation(): string | undefined {
		return this.#incarnation;
	}

	/** The size of the window in bytes. */
	get bytes(): number {
		return this.#bytes;
	}

	/** Number of the chunk after the window. */
	get end(): number {
		return this.#first + this.#chunks.length;
	}

	/** Whether more chunks may come. */
	get isOpen(): boolean {
		return this.#isOpen;
	}

	/**
	 * Whether a run is known to be in flight: the last event that was read here ends no execution. Unknown if nothing was
	 * read yet.
	 */
	get isAtWork(): boolean {
		return this.#lastId !== this.#options.after && this.#lastEnd !== this.#lastId;
	}

	/** Whether this feed has seen `after` and has everything after it in the window. */
	holds(after: string | undefined): boolean {
		if (!this.covers(after)) return false;
		return after === undefined || (this.#lastId !== undefined && compareEventIds(after, this.#lastId) <= 0);
	}

	/** Whether a watcher that has everything up to `after` can join here without missing anything. */
	covers(after: string | undefined): boolean {
		if (!this.#isOpen) return false;
		if (this.#before === undefined) return true;
		return after !== undefined && compareEventIds(after, this.#before) >= 0;
	}

	/** Adds a watcher that has everything up to `after`, and sets its next chunk. */
	join(watcher: FeedWatcher, after: string | undefined): void {
		let at = this.#chunks.length;
		while (
			at > 0 &&
			(after === undefined || compareEventIds((this.#chunks[at - 1] as Chunk).lastId, after) > 0)
		)
			at--;
		const isFirst = this.#watchers.size === 0;
		if (
			isFirst ||
			after === undefined ||
			(this.#known !== undefined && compareEventIds(after, this.#known) < 0)
		)
			this.#known = after;
		watcher.next = this.#first + at;
		this.#watchers.add(watcher);
		this.#start();
	}

	/** Returns a chunk by its number; undefined if it has not arrived yet. */
	chunk(number: number): Chunk | undefined {
		return this.#chunks[number - this.#first];
	}

	leave(watcher: FeedWatcher): void {
		this.#watchers.delete(watcher);
		this.#closeIfUnused();
	}

	/** Calls `settle` once the execution after `after`, or the feed, has ended. */
	whenComplete(after: string, settle: () => void): void {
		const hasEnded = this.#lastEnd !== undefined && compareEventIds(this.#lastEnd, after) > 0;
		if (!this.#isOpen || hasEnded) {
			settle();
			return;
		}
		this.#completions.add({ after, settle });
		this.#start();
	}

	/** From now on, reads new entries as soon as they arrive. */
	hurry(): void {
		this.#isHurried = true;
		this.readNow();
	}

	/** Reads available entries without waiting for more: a run has ended. */
	readNow(): void {
		this.#endPause();
	}

	/** Stops reading. Watchers take the available chunks and end. */
	close(): void {
		if (!this.#isOpen) return;
		this.#isOpen = false;
		this.#endPause();
		this.#abort.abort("left"); // without a reason it would create an error each time
		for (const { settle } of this.#completions) settle();
		this.#completions.clear();
		this.#options.ended();
		for (const watcher of [...this.#watchers]) watcher.wake();
	}

	#start(): void {
		if (this.#isStarted || !this.#isOpen) return;
		this.#isStarted = true;
		void this.#read();
	}

	async #read(): Promise<void> {
		try {
			// Requested at once: a closing service delivers available events to existing requests.
			const batches = this.#options.follow(this.#abort.signal, (incarnation) => {
				this.#incarnation ??= incarnation;
			});
			// If timers are late, a turn of the event loop takes as long as a pause, and a short run takes several.
			for (let turn = 0; turn < firstTurns && (await this.#pause(readEvery.first)) > readEvery.least; turn++);
			for await (const events of batches) {
				if (!this.#isOpen) return;
				if (events.length === 0) continue;
				this.#take(events);
				if (!this.#isOpen) return;
				if (events.length < full) await this.#pause(readEvery.least);
				else await turn(0); // otherwise a store in memory would be read to its end before other work runs
			}
			this.#notify();
		} catch (error) {
			// The session was deleted before it was read, and possibly created again: for its watchers it has ended.
			if (this.#isOpen && !isGone(error)) this.#options.failed(error);
		} finally {
			this.close();
		}
	}

	/** Returns by how many milliseconds its timer was late; 0 if there was no wait. */
	async #pause(atLeast: number): Promise<number> {
		const { least, timesLate, most } = readEvery;
		if (this.#isHurried) return 0;
		const { pace } = this.#options;
		const milliseconds = Math.max(atLeast, pace.every);
		const due = performance.now() + milliseconds;
		let timer: ReturnType<typeof setTimeout> | undefined;
		await new Promise<void>((resolve) => {
			this.#endPause = resolve;
			timer = unheld(setTimeout(resolve, milliseconds));
		});
		clearTimeout(timer);
		const late = performance.now() - due;
		if (late < 0) return 0;
		pace.every = Math.min(most, Math.max(least, timesLate * late));
		return late;
	}

	#take(events: readonly LoggedEvent[]): void {
		for (const event of events) this.#gathered.push(event);
		const isUrgent = this.#gathered.length >= gathered || events.some(isComplete);
		if (!this.#isNotifying || isUrgent) this.#notify();
		if (isUrgent) this.#endRest();
	}

	/** Moves gathered events into the window and wakes the watchers. */
	#notify(): void {
		const events = this.#gathered;
		if (events.length === 0) return;
		this.#gathered = [];
		this.#lastId = (events.at(-1) as LoggedEvent).id;
		if (this.#watchers.size > 0) this.#extend([...chunksOf(this.#unknown(events))]);
		else this.#forget();
		this.#settle(events);
		if (this.#watchers.size > crowd) void this.#notifyCrowd();
		else for (const watcher of [...this.#watchers]) watcher.wake();
		this.#dropTheSlow();
		this.#evict();
		this.#closeIfUnused();
	}

	/** Returns the events that a watcher may not have. A later watcher with fewer events reads from the service. */
	#unknown(events: readonly LoggedEvent[]): readonly LoggedEvent[] {
		const known = this.#known;
		if (known === undefined) return events;
		const at = events.findIndex(({ id }) => compareEventIds(id, known) > 0);
		const from = at < 0 ? events.length : at;
		if (from === 0) return events;
		this.#forget();
		this.#before = (events[from - 1] as LoggedEvent).id;
		return events.slice(from);
	}

	/** Wakes many watchers a few at a time, so that runs continue in between, and pauses in proportion. */
	async #notifyCrowd(): Promise<void> {
		this.#hasNews = true;
		if (this.#isNotifying) return;
		this.#isNotifying = true;
		while (this.#hasNews) {
			this.#hasNews = false;
			let busy = 0;
			let notified = 0;
			for (const watcher of [...this.#watchers]) {
				const started = performance.now();
				watcher.wake();
				busy += performance.now() - started;
				if (++notified % crowd === 0) await turn(0);
			}
			if (!this.#hasNews) await this.#rest(Math.min(crowdPatience, busy / crowdShare));
		}
		this.#isNotifying = false;
		this.#notify();
	}

	/** Waits some milliseconds, or less if `#endRest` is called. */
	async #rest(milliseconds: number): Promise<void> {
		let timer: ReturnType<typeof setTimeout> | undefined;
		await new Promise<void>((resolve) => {
			this.#endRest = resolve;
			timer = unheld(setTimeout(resolve, milliseconds));
		});
		clearTimeout(timer);
	}

	#extend(chunks: readonly Chunk[]): void {
		for (const chunk of chunks) {
			this.#chunks.push(chunk);
			this.#bytes += chunk.bytes.byteLength;
		}
	}

	/** Without watchers nothing is serialised; a returning watcher reads from the service. */
	#forget(): void {
		this.#first += this.#chunks.length;
		this.#chunks = [];
		this.#bytes = 0;
		this.#before = this.#lastId;
	}

	#dropTheSlow(): void {
		for (const watcher of [...this.#watchers]) {
			let behind = 0;
			// One chunk is always allowed: a record may be larger than the limit.
			for (let at = this.#chunks.length - 1; at >= watcher.next - this.#first; at--) {
				behind += (this.#chunks[at] as Chunk).bytes.byteLength;
				if (behind <= this.#options.maxBufferedBytes) continue;
				if (at < this.#chunks.length - 1) watcher.drop();
				break;
			}
		}
	}

	#evict(): void {
		let needed = this.end;
		for (const { next } of this.#watchers) needed = Math.min(needed, next);
		let count = 0;
		while (this.#first + count < needed) {
			const { bytes } = this.#chunks[count] as Chunk;
			if (this.#bytes - bytes.byteLength < recentBytes) break;
			this.#bytes -= bytes.byteLength;
			count++;
		}
		if (count === 0) return;
		this.#before = (this.#chunks[count - 1] as Chunk).lastId;
		this.#chunks.splice(0, count);
		this.#first += count;
	}

	#settle(events: readonly LoggedEvent[]): void {
		for (const event of events) {
			if (!isComplete(event)) continue;
			this.#lastEnd = event.id;
			for (const waiting of this.#completions) {
				if (compareEventIds(event.id, waiting.after) <= 0) continue;
				this.#completions.delete(waiting);
				waiting.settle();
			}
		}
	}

	#closeIfUnused(): void {
		if (this.#watchers.size === 0 && this.#completions.size === 0) this.close();
	}
}

/** Lets other work run for some milliseconds. */
function turn(milliseconds: number): Promise<void> {
	return new Promise((resolve) => {
		unheld(setTimeout(resolve, milliseconds));
	});
}
