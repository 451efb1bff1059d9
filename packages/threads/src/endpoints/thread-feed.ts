// What one thread's watchers share in this process: one reader of its session, and what the project emits, in one order.
//
// A watcher reads → (it has what the feed has) → joins the feed → (it lags by too much) → reads again. While it reads, it gets
// what is kept, and nothing of what is emitted: that is there for those who watch at that moment.
import { type EventPlace, eventId, followPages, isAfter, placeAfter } from "holdfast/execute";
import type { Threads } from "../thread/index.ts";
import { type ThreadEvent, ThreadProjection } from "./thread-events.ts";

/** An event as watchers get it. One without an id is not kept. */
export interface SentEvent {
	readonly id?: string;
	readonly event: ThreadEvent;
}

/** Events that wait for one watcher before it reads for itself. */
const mostWaiting = 2_000;

/** The feeds of a server. */
export class ThreadFeeds {
	readonly #threads: Threads;
	readonly #feeds = new Map<string, Feed>();

	constructor(threads: Threads) {
		this.#threads = threads;
	}

	/**
	 * The events of a thread after an id, then live ones, until the thread is deleted or the signal fires. Rejects with
	 * `invalid_event_id` and `events_expired`.
	 */
	async *watch(
		threadId: string,
		after: string | undefined,
		signal: AbortSignal,
	): AsyncGenerator<readonly SentEvent[], void, void> {
		const feed = this.#open(threadId, after);
		try {
			let last = after;
			for (;;) {
				const place = new Seat(feed, last);
				try {
					if (!place.isTaken)
						for await (const batch of eventsOf(this.#threads, threadId, last, signal)) {
							last = batch.at(-1)?.id ?? last;
							yield batch;
							if (place.take(last)) break;
						}
					if (!place.isTaken) return;
					while (!place.isBehind) {
						const batch = await place.next(signal);
						if (batch === undefined) return;
						last = batch.findLast(({ id }) => id !== undefined)?.id ?? last;
						if (batch.length > 0) yield batch;
					}
				} finally {
					place.leave();
				}
			}
		} finally {
			feed.leave();
		}
	}

	#open(threadId: string, after: string | undefined): Feed {
		let feed = this.#feeds.get(threadId);
		if (feed === undefined) {
			feed = new Feed(this.#threads, threadId, after, () => this.#feeds.delete(threadId));
			this.#feeds.set(threadId, feed);
		}
		feed.enter();
		return feed;
	}
}

/** The shared reader of a thread. It reads as long as somebody watches. */
class Feed {
	readonly #seats = new Set<Seat>();
	readonly #over = new AbortController();
	readonly #forget: () => void;
	readonly #unsubscribe: () => void;
	#emitting: Promise<unknown> = Promise.resolve();
	#watchers = 0;
	/** The id of the last event that is kept and was given. */
	last: string | undefined;
	isOver = false;

	constructor(threads: Threads, threadId: string, after: string | undefined, forget: () => void) {
		this.last = after;
		this.#forget = forget;
		this.#unsubscribe = threads.subscribe(threadId, ({ event, data }) => {
			// One after the other: they keep their order.
			this.#emitting = this.#emitting
				.then(() => threads.redaction(threadId))
				.then(({ redact }) => this.#give([{ event: { type: "event", event, data: redact(data) } }]))
				.catch(() => {});
		});
		void this.#read(eventsOf(threads, threadId, after, this.#over.signal));
	}

	enter(): void {
		this.#watchers++;
	}

	leave(): void {
		if (--this.#watchers === 0) this.#end();
	}

	add(seat: Seat): void {
		this.#seats.add(seat);
	}

	remove(seat: Seat): void {
		this.#seats.delete(seat);
	}

	async #read(events: AsyncIterable<readonly SentEvent[]>): Promise<void> {
		try {
			for await (const batch of events) {
				this.last = batch.at(-1)?.id ?? this.last;
				this.#give(batch);
			}
		} catch {
			// Each watcher that reads for itself meets the same, and says so.
		}
		this.#end();
	}

	#give(sent: readonly SentEvent[]): void {
		for (const seat of this.#seats) seat.push(sent);
	}

	#end(): void {
		if (this.isOver) return;
		this.isOver = true;
		this.#over.abort();
		this.#unsubscribe();
		this.#forget();
		this.#give([]);
	}
}

/** One watcher's place at a feed, taken as soon as the watcher has what the feed has given. */
class Seat {
	readonly #feed: Feed;
	#last: string | undefined;
	#queue: SentEvent[] = [];
	#wake: (() => void) | undefined;
	isTaken = false;
	/** Whether it lags by more than is kept for it. */
	isBehind = false;

	constructor(feed: Feed, last: string | undefined) {
		this.#feed = feed;
		this.take(last);
	}

	/** Takes it where the watcher has all up to this event, and the feed has given no more. */
	take(last: string | undefined): boolean {
		this.#last = last;
		if (this.#feed.isOver || isAfter(placeAfter(this.#feed.last), placeAfter(last))) return false;
		this.isTaken = true;
		this.#feed.add(this);
		return true;
	}

	push(sent: readonly SentEvent[]): void {
		const known = placeAfter(this.#last);
		// The watcher may have read more than the feed has given so far.
		for (const each of sent)
			if (each.id === undefined || isAfter(placeAfter(each.id), known)) this.#queue.push(each);
		if (this.#queue.length > mostWaiting) {
			this.isBehind = true;
			this.#queue = [];
			this.#feed.remove(this);
		}
		this.#wake?.();
	}

	/** What comes next; undefined when nothing will, empty when it is behind. */
	async next(signal: AbortSignal): Promise<readonly SentEvent[] | undefined> {
		while (this.#queue.length === 0 && !this.isBehind) {
			if (signal.aborted || this.#feed.isOver) return undefined;
			await new Promise<void>((resolve) => {
				this.#wake = resolve;
				signal.addEventListener("abort", () => resolve(), { once: true });
			});
			this.#wake = undefined;
		}
		return this.#queue.splice(0);
	}

	leave(): void {
		this.#feed.remove(this);
	}
}

/** What is kept of a thread after an id, in batches, then what is committed. */
async function* eventsOf(
	threads: Threads,
	threadId: string,
	after: string | undefined,
	signal: AbortSignal,
): AsyncGenerator<readonly SentEvent[], void, void> {
	const known: EventPlace = placeAfter(after);
	const projection = new ThreadProjection(
		async (messageId) => (await (await threads.get(threadId))?.getMessage(messageId)) ?? null,
		() => threads.redaction(threadId),
	);
	const storeKey = threads.storeKeyOf(threadId);
	for await (const { items } of followPages(threads.host.journal, storeKey, { after, signal })) {
		const batch: SentEvent[] = [];
		for (const item of items) {
			let part = 0;
			for (const { seq, sub, event } of await projection.project(item)) {
				const place = { seq, sub, part: part++ };
				if (isAfter(place, known)) batch.push({ id: eventId(place), event });
			}
		}
		if (signal.aborted) return;
		if (batch.length > 0) yield batch;
	}
}
