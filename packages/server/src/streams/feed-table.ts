// The feeds of a handler: one for each session that is watched or active, opened on first use and removed when unused.
import { type ServedCaller, type SessionService, sessionKeyOf } from "../service/index.ts";
import { Feed, steadyPace } from "./feed.ts";

/** What feeds need. */
export interface FeedTableOptions {
	readonly service: SessionService;
	readonly maxBufferedBytes: number;
	readonly failed: (error: unknown) => void;
}

/** The open feeds. */
export class FeedTable {
	readonly #options: FeedTableOptions;
	/** The feed that the next watcher joins, by session. */
	readonly #feeds = new Map<string, Feed>();
	/** All open feeds, including those of deleted sessions until they end. */
	readonly #open = new Set<Feed>();
	readonly #pace = steadyPace();
	#isHurried = false;

	constructor(options: FeedTableOptions) {
		this.#options = options;
	}

	/** The total size of all windows in bytes. */
	get bytes(): number {
		let sum = 0;
		for (const feed of this.#open) sum += feed.bytes;
		return sum;
	}

	/** Returns the feed of a session, if it has one. */
	find(caller: ServedCaller, sessionId: string): Feed | undefined {
		return this.#feeds.get(sessionKeyOf(caller, sessionId));
	}

	/** Returns the feed of an existing session; a new feed starts after `after`. */
	open(caller: ServedCaller, sessionId: string, after: string | undefined): Feed {
		const key = sessionKeyOf(caller, sessionId);
		const found = this.#feeds.get(key);
		if (found !== undefined) return found;
		const { service, maxBufferedBytes, failed } = this.#options;
		const feed = new Feed({
			follow: (signal, reads) =>
				service.follow(caller, sessionId, { after, until: "never", signal, isKnown: true, reads }),
			after,
			maxBufferedBytes,
			pace: this.#pace,
			failed,
			ended: () => {
				this.#open.delete(feed);
				if (this.#feeds.get(key) === feed) this.#feeds.delete(key);
			},
		});
		if (this.#isHurried) feed.hurry();
		this.#feeds.set(key, feed);
		this.#open.add(feed);
		return feed;
	}

	/**
	 * The session is deleted, or was just created: later readers get another feed. The existing one ends by itself when
	 * it notices the deletion.
	 */
	renew(caller: ServedCaller, sessionId: string): void {
		this.#feeds.delete(sessionKeyOf(caller, sessionId));
	}

	/** The service is about to close: the events of its last runs should be read first. */
	hurry(): void {
		this.#isHurried = true;
		for (const feed of this.#open) feed.hurry();
	}

	close(): void {
		for (const feed of [...this.#open]) feed.close();
	}
}
