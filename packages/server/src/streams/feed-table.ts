// The feeds of a handler: one for each session that is watched or at work, opened on first use and gone when unused.
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
	readonly #feeds = new Map<string, Feed>();
	readonly #pace = steadyPace();
	#isHurried = false;

	constructor(options: FeedTableOptions) {
		this.#options = options;
	}

	/** Bytes that all windows hold. */
	get bytes(): number {
		let sum = 0;
		for (const feed of this.#feeds.values()) sum += feed.bytes;
		return sum;
	}

	/** The feed of a session, if it has one. */
	find(caller: ServedCaller, sessionId: string): Feed | undefined {
		return this.#feeds.get(sessionKeyOf(caller, sessionId));
	}

	/** The feed of a session that is there; a new one begins after `after`. */
	open(caller: ServedCaller, sessionId: string, after: string | undefined): Feed {
		const key = sessionKeyOf(caller, sessionId);
		const found = this.#feeds.get(key);
		if (found !== undefined) return found;
		const { service, maxBufferedBytes, failed } = this.#options;
		const feed = new Feed({
			follow: (signal) => service.follow(caller, sessionId, { after, until: "never", signal, isKnown: true }),
			after,
			maxBufferedBytes,
			pace: this.#pace,
			failed,
			ended: () => this.#feeds.delete(key),
		});
		if (this.#isHurried) feed.hurry();
		this.#feeds.set(key, feed);
		return feed;
	}

	/** The service is about to close: what its last runs say is to be read before. */
	hurry(): void {
		this.#isHurried = true;
		for (const feed of this.#feeds.values()) feed.hurry();
	}

	close(): void {
		for (const feed of [...this.#feeds.values()]) feed.close();
	}
}
