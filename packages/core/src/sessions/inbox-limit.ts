// Limits how many inputs may wait for one session (keeps I7). The limit holds for every store: each process asks the
// store at intervals and counts in between, so several processes together can exceed the limit by a few inputs each.
import { HoldfastError } from "@holdfast/upp";
import type { Journal } from "../host/index.ts";

/** How many inputs may wait for one session. */
export const mostWaiting = 1_000;

/** The number of inputs after which the store is asked again. */
const askedEvery = 50;

export class InboxLimit {
	readonly #journal: Pick<Journal, "head">;
	readonly #storeKey: string;
	/** The number of inputs that are accepted before the store is asked. */
	#left = askedEvery;

	constructor(journal: Pick<Journal, "head">, storeKey: string) {
		this.#journal = journal;
		this.#storeKey = storeKey;
	}

	/** Accepts one more outside input; returns undefined if that needs no query. Rejects with `inbox_full`. */
	admit(): Promise<void> | undefined {
		return this.#left-- > 0 ? undefined : this.#ask();
	}

	async #ask(): Promise<void> {
		const { waiting } = (await this.#journal.head(this.#storeKey)) ?? { waiting: 0 };
		if (waiting >= mostWaiting)
			throw new HoldfastError(
				"inbox_full",
				`The session has ${waiting} waiting inputs, which is the limit. Wait until it has processed some, or stop its run.`,
				{ retryable: true, data: { waiting, limit: mostWaiting } },
			);
		this.#left = Math.min(askedEvery, mostWaiting - waiting) - 1;
	}
}
