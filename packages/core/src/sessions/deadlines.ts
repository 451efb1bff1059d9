// Sessions whose runs wait for somebody outside, but not for ever: whoever looks after a store sees to it that their calls
// fail in time, though the process in which they began to wait has died.

import { never } from "../facts/index.ts";
import type { Clock, Journal } from "../host/index.ts";

/** Finds sessions whose calls have deadlines, each wait of one once. */
/** Milliseconds before its deadline in which a session is found by those who look again and again. */
const ahead = 60_000;

export class WaitingSessions {
	readonly #journal: Journal;
	readonly #clock: Pick<Clock, "now">;
	/** The waits that were found, by place. */
	#seen = new Map<string, number>();

	constructor(journal: Journal, clock: Pick<Clock, "now">) {
		this.#journal = journal;
		this.#clock = clock;
	}

	/** Nobody sees to the session at this place: the next look finds it again. */
	missed(place: string): void {
		this.#seen.delete(place);
	}

	/** Places of the sessions that have a deadline, `soon` or `ever`, and were not found by the look before. */
	async withDeadlines(when: "soon" | "ever", prefix = ""): Promise<readonly string[]> {
		const dueBy = when === "soon" ? this.#clock.now() + ahead : never - 1;
		const seen = new Map<string, number>();
		const found: string[] = [];
		for (const { key: place, seq } of await this.#journal.list({ state: "waiting", dueBy, prefix })) {
			if (this.#seen.get(place) !== seq) found.push(place);
			seen.set(place, seq);
		}
		this.#seen = seen;
		return found;
	}
}
