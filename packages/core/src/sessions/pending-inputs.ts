// Inputs on their way into the inbox: a kill lets them arrive, to take them out with the others.
import type { MaybePromise } from "../journal/index.ts";

export class PendingInputs {
	readonly #pending: Set<Promise<unknown>> = new Set();

	/** Resolves when the input has arrived. */
	async arrived(storing: MaybePromise<unknown>): Promise<void> {
		if (!(storing instanceof Promise)) return;
		this.#pending.add(storing);
		try {
			await storing;
		} finally {
			this.#pending.delete(storing);
		}
	}

	/** Resolves when none is on its way, arrived or refused. */
	async settled(): Promise<void> {
		if (this.#pending.size > 0) await Promise.allSettled(this.#pending);
	}
}
