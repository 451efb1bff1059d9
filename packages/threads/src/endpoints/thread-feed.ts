// The shared feed of one thread's watchers in this process: one reader of its session plus the events that the project
// emits, in one order.
//
// A watcher reads → (it has caught up with the feed) → joins the feed → (it lags too far behind) → reads again. While it
// reads, it receives only the stored events: emitted events reach only watchers that have joined.
import { type EventPlace, eventId, followPages, invalidEventId, isAfter, placeAfter } from "holdfast/execute";
import { isUnreadable, readEdit, type StoredInput } from "holdfast/host";
import type { Threads } from "../thread/index.ts";
import { type ThreadEvent, ThreadProjection } from "./thread-events.ts";

/** An event as watchers receive it. One without an id is not stored. */
export interface SentEvent {
	readonly id?: string;
	readonly event: ThreadEvent;
}

/** The maximum number of buffered events of one watcher, beyond which it reads on its own. */
const mostWaiting = 2_000;

/** The feeds of a server. */
export class ThreadFeeds {
	readonly #threads: Threads;
	readonly #feeds = new Map<string, Feed>();

	constructor(threads: Threads) {
		this.#threads = threads;
	}

	/**
	 * Yields the events of a thread after an id, then live ones, until the thread is deleted or the signal fires. The
	 * first batch, which may be empty, is delivered at once. Rejects with `invalid_event_id` and `events_expired`.
	 */
	async *watch(
		threadId: string,
		after: string | undefined,
		signal: AbortSignal,
	): AsyncGenerator<readonly SentEvent[], void, void> {
		const storeKey = this.#threads.storeKeyOf(threadId);
		const head = await this.#threads.host.journal.head(storeKey);
		if (placeAfter(after).seq > (head?.seq ?? 0)) throw invalidEventId(after ?? "");
		const feed = this.#open(threadId, after);
		try {
			let last = after;
			for (;;) {
				const place = new Seat(feed, last);
				try {
					if (place.isTaken) {
						// An error of the first page is reported before anything is sent.
						await feed.opened;
						yield [];
					} else
						for await (const { events } of pagesOf(this.#threads, threadId, last, signal)) {
							last = events.at(-1)?.id ?? last;
							yield events;
							if (place.take(last)) break;
						}
					if (!place.isTaken) return;
					while (!place.isLagging) {
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

/** The shared reader of a thread. It reads while it has a watcher. */
class Feed {
	readonly #seats = new Set<Seat>();
	readonly #over = new AbortController();
	readonly #forget: () => void;
	readonly #unsubscribe: () => void;
	readonly #threads: Threads;
	readonly #threadId: string;
	/** Emitted events, each with the entry that precedes it: they are delivered after that entry. */
	readonly #emitted: { readonly seq: number; readonly sent: SentEvent }[] = [];
	#emitting: Promise<unknown> = Promise.resolve();
	/** Waiting inputs that were delivered. */
	#waiting: ReadonlySet<string> = new Set();
	#watchers = 0;
	/** Seq of the last entry that was read. */
	#seq = 0;
	/** The id of the last stored event that was delivered. */
	last: string | undefined;
	isOver = false;
	/** Why it ended, if it failed. */
	failure: { readonly error: unknown } | undefined;
	/** Resolves once it has read a page. Rejects if it cannot. */
	readonly opened: Promise<void>;
	readonly #opening: PromiseWithResolvers<void> = Promise.withResolvers();

	constructor(threads: Threads, threadId: string, after: string | undefined, forget: () => void) {
		this.#threads = threads;
		this.#threadId = threadId;
		this.last = after;
		this.#forget = forget;
		this.opened = this.#opening.promise;
		this.opened.catch(() => {});
		this.#unsubscribe = threads.subscribe(threadId, ({ event, data }) => this.#emit(event, data));
		void this.#read(after);
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

	/** Emits one event after the other, so that they keep their order. */
	#emit(event: string, data: unknown): void {
		const { host } = this.#threads;
		const storeKey = this.#threads.storeKeyOf(this.#threadId);
		// Read now: later commits follow it.
		const looking = Promise.resolve(host.journal.head(storeKey));
		looking.catch(() => {});
		this.#emitting = this.#emitting
			.then(async () => {
				const { seq = 0 } = (await looking) ?? {};
				const { redact } = await this.#threads.redaction(this.#threadId);
				this.#emitted.push({ seq, sent: { event: { type: "event", event, data: redact(data) } } });
				this.#give(this.#emittedBefore(this.#seq + 1));
			})
			.catch(() => {});
	}

	/** Returns the events that were emitted before an entry was committed. */
	#emittedBefore(seq: number): SentEvent[] {
		const count = this.#emitted.findIndex((each) => each.seq >= seq);
		return this.#emitted.splice(0, count < 0 ? this.#emitted.length : count).map(({ sent }) => sent);
	}

	async #read(after: string | undefined): Promise<void> {
		try {
			for await (const { events, seq } of pagesOf(this.#threads, this.#threadId, after, this.#over.signal)) {
				// Events emitted before these entries were committed come first.
				await this.#emitting;
				this.#seq = Math.max(this.#seq, seq);
				this.last = events.at(-1)?.id ?? this.last;
				const placed = events.flatMap((each) => [...this.#emittedBefore(placeAfter(each.id).seq), each]);
				this.#give([...placed, ...this.#emittedBefore(this.#seq + 1)]);
				await this.#giveWaiting();
				this.#opening.resolve();
			}
		} catch (error) {
			if (!this.isOver) this.failure = { error };
			this.#opening.reject(error);
		}
		this.#opening.resolve();
		this.#end();
	}

	/** Delivers an input that waits for the next step at once, and again with an id once it is part of the thread. */
	async #giveWaiting(): Promise<void> {
		const { host } = this.#threads;
		const inbox = await host.journal.inbox(this.#threads.storeKeyOf(this.#threadId));
		const before = this.#waiting;
		this.#waiting = new Set(inbox.map(({ id }) => id));
		const added = inbox.filter(({ id }) => !before.has(id));
		if (added.length === 0) return;
		const [state, { redactWithin }] = [
			await this.#threads.get(this.#threadId),
			await this.#threads.redaction(this.#threadId),
		];
		for (const input of added) {
			const messageId = messageIn(input);
			if (messageId === undefined || state === null) continue;
			const data = await state.getMessage(messageId);
			if (data?.silent !== true)
				this.#give([{ event: redactWithin({ type: "message_data", messageId, data }) }]);
		}
	}

	#give(sent: readonly SentEvent[]): void {
		if (sent.length === 0 && !this.isOver) return;
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

/** One watcher's subscription to a feed, which starts as soon as the watcher has caught up with the feed. */
class Seat {
	readonly #feed: Feed;
	#last: string | undefined;
	#queue: SentEvent[] = [];
	#wake: (() => void) | undefined;
	isTaken = false;
	/** Whether it lags by more than the buffer holds. */
	isLagging = false;

	constructor(feed: Feed, last: string | undefined) {
		this.#feed = feed;
		this.take(last);
	}

	/** Subscribes if the watcher has everything up to this event, and the feed has delivered nothing later. */
	take(last: string | undefined): boolean {
		this.#last = last;
		if (this.#feed.isOver || isAfter(placeAfter(this.#feed.last), placeAfter(last))) return false;
		this.isTaken = true;
		this.#feed.add(this);
		return true;
	}

	push(sent: readonly SentEvent[]): void {
		const known = placeAfter(this.#last);
		// The watcher may have read more than the feed has delivered so far.
		for (const each of sent)
			if (each.id === undefined || isAfter(placeAfter(each.id), known)) this.#queue.push(each);
		if (this.#queue.length > mostWaiting) {
			this.isLagging = true;
			this.#queue = [];
			this.#feed.remove(this);
		}
		this.#wake?.();
	}

	/** Returns the next events; undefined at the end, empty if the watcher lags. */
	async next(signal: AbortSignal): Promise<readonly SentEvent[] | undefined> {
		while (this.#queue.length === 0 && !this.isLagging) {
			if (signal.aborted) return undefined;
			if (this.#feed.failure !== undefined) throw this.#feed.failure.error;
			if (this.#feed.isOver) return undefined;
			let woken = (): void => {};
			await new Promise<void>((resolve) => {
				woken = resolve;
				this.#wake = woken;
				signal.addEventListener("abort", woken);
			});
			signal.removeEventListener("abort", woken);
			this.#wake = undefined;
		}
		return this.#queue.splice(0);
	}

	leave(): void {
		this.#feed.remove(this);
	}
}

/** Returns the message that an input adds or changes; undefined if it is damaged, because its run reports that. */
function messageIn(input: StoredInput): string | undefined {
	try {
		return messageOf(input);
	} catch (error) {
		if (isUnreadable(error)) return undefined;
		throw error;
	}
}

function messageOf({ kind, body }: StoredInput): string | undefined {
	if (kind === "edit") {
		const edit = readEdit(body);
		return edit.kind === "message.deleted" ? edit.messageId : (edit.message as { readonly id: string }).id;
	}
	if (kind !== "message" && kind !== "steer") return undefined;
	return (body as { readonly message?: { readonly id?: string } } | null)?.message?.id;
}

/** Yields the stored entries of a thread after an id, page by page, followed by new ones. The first page may be empty. */
async function* pagesOf(
	threads: Threads,
	threadId: string,
	after: string | undefined,
	signal: AbortSignal,
): AsyncGenerator<{ readonly events: readonly SentEvent[]; readonly seq: number }, void, void> {
	const known: EventPlace = placeAfter(after);
	const projection = new ThreadProjection(
		async (messageId) => (await (await threads.get(threadId))?.getMessage(messageId)) ?? null,
		() => threads.redaction(threadId),
	);
	const storeKey = threads.storeKeyOf(threadId);
	for await (const { items } of followPages(threads.host.journal, storeKey, { after, signal })) {
		const events: SentEvent[] = [];
		let seq = 0;
		for (const item of items) {
			seq = item.entry?.seq ?? seq;
			let part = 0;
			for (const { event, ...at } of await projection.project(item)) {
				const place = { ...at, part: part++ };
				if (isAfter(place, known)) events.push({ id: eventId(place), event });
			}
		}
		if (signal.aborted) return;
		yield { events, seq };
	}
}
