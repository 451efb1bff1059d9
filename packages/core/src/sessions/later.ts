// Deferred work, retried on failure: expiring calls, processing an inbox that could not be processed, and ending
// abandoned work. There is one timer for each purpose, and none once the sessions are closed (keeps I7, I8).
import type { Timers } from "../host/index.ts";

/** Milliseconds before failed work is retried. */
const triedAgainAfter = 1_000;
const always = (): boolean => true;

export class Later {
	readonly #timers: Timers;
	/** Functions that cancel pending work, by purpose. */
	readonly #waiting = new Map<string, () => void>();
	#isClosed = false;

	constructor(timers: Timers) {
		this.#timers = timers;
	}

	/** Whether work is pending. */
	has(purpose: string): boolean {
		// Pending work is rare, and the name of a purpose is built each time: this avoids the lookup.
		return this.#waiting.size > 0 && this.#waiting.has(purpose);
	}

	/**
	 * Schedules work, replacing earlier work of the same purpose. If it rejects, repeats it while it is needed. `after`
	 * is in milliseconds; default: the delay of a retry.
	 */
	set(
		purpose: string,
		work: () => Promise<unknown>,
		wanted: () => boolean = always,
		after: number = triedAgainAfter,
	): void {
		this.callOff(purpose);
		if (this.#isClosed || !wanted()) return;
		const callOff = this.#timers.after(after, () => {
			this.#waiting.delete(purpose);
			work().catch((error: unknown) => {
				// A closed journal delivers nothing more. Work that was scheduled in the meantime is kept.
				const isFinal = (error as { code?: unknown } | null)?.code === "journal_closed";
				if (!isFinal && !this.has(purpose)) this.set(purpose, work, wanted);
			});
		});
		this.#waiting.set(purpose, callOff);
	}

	callOff(purpose: string): void {
		this.#waiting.get(purpose)?.();
		this.#waiting.delete(purpose);
	}

	/** No further work runs. */
	close(): void {
		this.#isClosed = true;
		for (const purpose of this.#waiting.keys()) this.callOff(purpose);
	}
}
