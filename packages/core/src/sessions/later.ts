// Work that is done in a while, and tried again when it fails: the end of a call's time, an inbox that could not be worked
// off, the end of work that nobody waits for. One timer for each purpose; none once the sessions are closed (keeps I7, I8).
import type { Timers } from "../host/index.ts";

/** Milliseconds after which is tried again what could not be done. */
const triedAgainAfter = 1_000;
const always = (): boolean => true;

export class Later {
	readonly #timers: Timers;
	/** The ways to call off what waits, by purpose. */
	readonly #waiting = new Map<string, () => void>();
	#isClosed = false;

	constructor(timers: Timers) {
		this.#timers = timers;
	}

	/** Whether something waits to be done. */
	has(purpose: string): boolean {
		// Hardly ever does anything wait, and the name of a purpose is made anew each time: it is not looked at then.
		return this.#waiting.size > 0 && this.#waiting.has(purpose);
	}

	/**
	 * Does the work in a while, in place of what waited for the same purpose; when it rejects, again, as long as it is
	 * wanted. `after` are milliseconds; default: as for another try.
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
				// Nothing more comes of a journal that is closed, and what was set meanwhile is kept.
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

	/** Nothing is done any more. */
	close(): void {
		this.#isClosed = true;
		for (const purpose of this.#waiting.keys()) this.callOff(purpose);
	}
}
