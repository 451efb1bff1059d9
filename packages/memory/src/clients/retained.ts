// Applies retention to streams.
import type { Retention } from "../contract/index.ts";
import type { Storage, StoredRecord } from "../storage/index.ts";

/** The retained part of one stream. */
export interface Kept {
	/** Number of the oldest retained entry. */
	readonly fromSeq: number;
	/** Entries since this time are retained, in milliseconds since 1970. */
	readonly since: number;
}

export class Retained {
	readonly #retention: Retention;
	readonly #storage: Storage;
	readonly #now: () => number;

	constructor(retention: Retention, storage: Storage, now: () => number) {
		this.#retention = retention;
		this.#storage = storage;
		this.#now = now;
	}

	/** Returns the time since which entries are retained. */
	#since(): number {
		const { maxAgeMs } = this.#retention;
		return maxAgeMs === undefined ? Number.MIN_SAFE_INTEGER : Math.floor(this.#now() - maxAgeMs);
	}

	async of(space: string): Promise<Kept> {
		const { maxEntries } = this.#retention;
		const fromSeq = maxEntries === undefined ? 0 : await this.#fromSeq(space, maxEntries);
		return { fromSeq, since: this.#since() };
	}

	/** Returns a check whether entries are retained, which reads each stream only once. */
	filter(): (record: StoredRecord) => Promise<boolean> {
		const streams = new Map<string, Kept>();
		return async ({ kind, space, seq, at }) => {
			if (kind === "value") return true;
			const kept = streams.get(space) ?? (await this.of(space));
			streams.set(space, kept);
			return seq >= kept.fromSeq && at >= kept.since;
		};
	}

	async #fromSeq(space: string, maxEntries: number): Promise<number> {
		return maxEntries === 0 ? Number.MAX_SAFE_INTEGER : await this.#storage.floor(space, maxEntries);
	}
}
