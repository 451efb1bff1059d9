// One watcher of one session: it reads from the service at the pace of its reader until it has caught up, then joins the
// feed that all watchers share. If the feed is too far ahead of its reader, it reads from the service again: a burst
// disconnects no reader, and the stream disconnects a reader that has stopped. Every event is sent once, in order, from
// either source.
//
//   reading    batches come from its own reader; if the feed does not fit, it stays here and the next batch wakes it
//   joined     chunks come from the feed
//   ended      the execution has ended, the session is deleted, or the reader has left
//
//   reading → joined   caught up, and the feed is of the same session and contains all later events
//   joined → reading   the feed dropped it, or turned out to be of another session under this id
import type { LoggedEvent } from "holdfast/execute";
import type { ServedCaller, SessionService } from "../service/index.ts";
import { type Chunk, chunkAfter, chunksOf } from "./chunk.ts";
import type { Source, StartSource } from "./event-stream.ts";
import type { Feed, FeedWatcher } from "./feed.ts";
import type { FeedTable } from "./feed-table.ts";
import { isGone } from "./is-gone.ts";
import type { StreamEnd } from "./stream-table.ts";

/** Where a watcher stops: after the next end of an execution, after the last one, or never. */
export type Until = "complete" | "idle" | "never";

/** The watched session, and the start position. */
export interface WatchOptions {
	readonly caller: ServedCaller;
	readonly sessionId: string;
	/** The id that the watcher has already; undefined: from the session's beginning. */
	readonly after: string | undefined;
	readonly until: Until;
	/** Counts the events that were sent. */
	readonly sent: (events: number) => void;
	/** Called if the service fails while it is watched. */
	readonly failed: (error: unknown) => void;
}

/** The sources of watchers. */
export interface WatchPorts {
	readonly service: SessionService;
	readonly feeds: FeedTable;
}

type Batch = IteratorResult<readonly LoggedEvent[]>;

/** Watches the end of a session that just received an input: its feed starts there. */
export function watchNew(ports: WatchPorts, options: WatchOptions): StartSource {
	return (wake, fail) => {
		const feed = ports.feeds.open(options.caller, options.sessionId, options.after);
		return new Watcher(ports, options, wake, fail, feed.covers(options.after) ? feed : undefined);
	};
}

/**
 * Watches from any position. Resolves when the service has accepted it.
 * @throws the errors of the service: `session_not_found`, `invalid_event_id`, `events_expired`.
 */
export async function watchFrom(ports: WatchPorts, options: WatchOptions): Promise<StartSource> {
	const feed = ports.feeds.find(options.caller, options.sessionId);
	// If no run is in flight, only the service can tell that this is the end.
	const mayJoin = options.until !== "idle" || feed?.isAtWork === true;
	if (mayJoin && feed?.holds(options.after) === true) {
		// The feed may have moved on before the stream starts; then the stream starts with the service.
		return (wake, fail) =>
			new Watcher(ports, options, wake, fail, feed.holds(options.after) ? feed : undefined);
	}
	const reading = readFrom(ports.service, options, options.after);
	const first = await reading.iterator.next();
	return (wake, fail) =>
		new Watcher(ports, options, wake, fail, undefined, Object.assign(reading, { first }));
}

interface Reading {
	readonly iterator: AsyncIterator<readonly LoggedEvent[]>;
	readonly abort: AbortController;
	readonly first?: Batch;
	/** The incarnation it reads. */
	incarnation: string | undefined;
}

function readFrom(
	service: SessionService,
	{ caller, sessionId, until }: WatchOptions,
	after: string | undefined,
): Reading {
	const abort = new AbortController();
	const reads = (incarnation: string | undefined): void => {
		reading.incarnation = incarnation;
	};
	const batches = service.follow(caller, sessionId, { after, until, signal: abort.signal, reads });
	const reading: Reading = { iterator: batches[Symbol.asyncIterator](), abort, incarnation: undefined };
	return reading;
}

class Watcher implements Source, FeedWatcher {
	readonly #ports: WatchPorts;
	readonly #options: WatchOptions;
	readonly #wake: () => void;
	readonly #fail: (reason: StreamEnd) => void;
	next = 0;
	isLagging = false;
	/** Whether the last execution that ended has failed. */
	hasFailed = false;
	/** The id of the last event that was taken. */
	#after: string | undefined;
	#feed: Feed | undefined;
	#reading: Reading | undefined;
	/** Chunks that were read from the service and not yet taken. */
	#read: Generator<Chunk, undefined> | undefined;
	#isReading = false;
	/** Whether everything available was read, so that the feed can provide the rest. */
	#isCaughtUp = false;
	/** The incarnation it watches; undefined if not known. */
	#incarnation: string | undefined;
	#hasEnded = false;

	constructor(
		ports: WatchPorts,
		options: WatchOptions,
		wake: () => void,
		fail: (reason: StreamEnd) => void,
		feed: Feed | undefined,
		reading?: Reading,
	) {
		this.#ports = ports;
		this.#options = options;
		this.#wake = wake;
		this.#fail = fail;
		this.#after = options.after;
		this.#reading = reading;
		if (reading?.first !== undefined) this.#arrived(reading.first);
		else if (feed !== undefined) this.#join(feed);
	}

	take(): Uint8Array | "end" | "none" {
		if (this.#hasEnded) return "end";
		const chunk = this.#takeRead() ?? this.#takeLive();
		if (chunk === undefined) {
			if (this.#hasEnded) return "end";
			if (this.#feed === undefined) this.#readOn();
			return "none";
		}
		this.#after = chunk.lastId;
		if (chunk.ends) this.hasFailed = chunk.failed;
		this.#options.sent(chunk.events);
		return chunk.bytes;
	}

	wake(): void {
		this.#wake();
	}

	drop(): void {
		this.#leaveFeed();
		this.isLagging = true;
		this.#wake();
	}

	close(): void {
		this.#hasEnded = true;
		this.#read = undefined;
		this.#leaveReading();
		this.#leaveFeed();
	}

	#takeRead(): Chunk | undefined {
		const chunk = this.#read?.next().value;
		if (chunk === undefined) {
			this.#read = undefined;
			return undefined;
		}
		if (chunk.ends && this.#options.until === "complete") this.#finish();
		return chunk;
	}

	#takeLive(): Chunk | undefined {
		if (this.#hasEnded) return undefined;
		if (this.#feed === undefined && this.#isCaughtUp) this.#joinIfFits();
		return this.#feed === undefined ? undefined : this.#takeFromFeed(this.#feed);
	}

	#takeFromFeed(feed: Feed): Chunk | undefined {
		if (!this.#isOf(feed)) {
			this.#leaveFeed();
			return undefined;
		}
		this.#incarnation ??= feed.incarnation;
		for (;;) {
			const chunk = feed.chunk(this.next);
			if (chunk === undefined) {
				if (!feed.isOpen) this.#finish();
				return undefined;
			}
			this.next++;
			const rest = this.#after === undefined ? chunk : chunkAfter(chunk, this.#after);
			// A chunk that ended early needs no second end.
			if (rest === undefined) continue;
			if (chunk.ends && this.#endsWith(feed)) this.#finish();
			return rest;
		}
	}

	/** Whether a feed belongs to the watched session, if both incarnations are known. */
	#isOf({ incarnation }: Feed): boolean {
		return incarnation === undefined || this.#incarnation === undefined || incarnation === this.#incarnation;
	}

	#endsWith(feed: Feed): boolean {
		const { until } = this.#options;
		return until === "complete" || (until === "idle" && this.next === feed.end);
	}

	/** Nothing more follows; the chunk that was taken last is still sent. */
	#finish(): void {
		this.#read = undefined;
		this.#leaveReading();
		this.#hasEnded = true;
	}

	#join(feed: Feed): void {
		this.#leaveReading();
		this.#feed = feed;
		this.isLagging = false;
		feed.join(this, this.#after);
	}

	/** If the feed does not fit, it continues with its own reader, which has every event as well. */
	#joinIfFits(): void {
		const feed = this.#ports.feeds.open(this.#options.caller, this.#options.sessionId, this.#after);
		if (this.#isOf(feed) && feed.covers(this.#after)) this.#join(feed);
	}

	#leaveFeed(): void {
		this.#feed?.leave(this);
		this.#feed = undefined;
		this.#isCaughtUp = false;
	}

	#readOn(): void {
		if (this.#isReading) return;
		this.#isReading = true;
		this.#reading ??= readFrom(this.#ports.service, this.#options, this.#after);
		const reading = this.#reading;
		reading.iterator.next().then(
			(batch) => {
				this.#isReading = false;
				if (this.#hasEnded) return;
				if (reading === this.#reading) this.#arrived(batch);
				this.#wake();
			},
			(error) => {
				this.#isReading = false;
				if (this.#hasEnded) return;
				if (isGone(error)) {
					this.#finish();
					this.#wake();
					return;
				}
				this.#options.failed(error);
				this.#fail("failed");
			},
		);
	}

	#arrived({ done, value }: Batch): void {
		const incarnation = this.#reading?.incarnation;
		this.#incarnation ??= incarnation;
		// If another session has the id by now, the watched one has no more events.
		if (done === true || this.#incarnation !== incarnation) this.#finish();
		else if (value.length > 0) this.#read = chunksOf(value);
		else this.#isCaughtUp = true;
	}

	#leaveReading(): void {
		const reading = this.#reading;
		this.#reading = undefined;
		reading?.abort.abort("left");
		reading?.iterator.return?.().catch(() => {});
	}
}
