// Inputs on their way into the inbox: a kill lets them arrive, to take them out with the others.
import type { MaybePromise } from "../host/index.ts";

export class PendingInputs {
	#pending: Set<Promise<unknown>> | undefined;

	/** Resolves when the input has arrived. */
	async arrived(storing: MaybePromise<unknown>): Promise<void> {
		if (!(storing instanceof Promise)) return;
		this.#pending ??= new Set();
		this.#pending.add(storing);
		try {
			await storing;
		} finally {
			this.#pending.delete(storing);
		}
	}

	/** Resolves when none is on its way, arrived or refused. */
	async settled(): Promise<void> {
		if (this.#pending !== undefined) await Promise.allSettled(this.#pending);
	}
}
