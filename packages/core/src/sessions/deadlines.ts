// Sessions whose runs wait for somebody outside, but not for ever: whoever looks after a store sees to it that their calls
// fail in time, though the process in which they began to wait has died.
import type { Journal } from "../journal/index.ts";

/** Finds sessions whose calls have deadlines, each wait of one once. */
export class WaitingSessions {
	readonly #journal: Journal;
	/** The waits that were looked at, by place. */
	#seen = new Map<string, number>();

	constructor(journal: Journal) {
		this.#journal = journal;
	}

	/** Nobody sees to the session at this place: the next look finds it again. */
	missed(place: string): void {
		this.#seen.delete(place);
	}

	/** Places of the sessions that began to wait since the last look. */
	async withDeadlines(prefix = ""): Promise<readonly string[]> {
		const seen = new Map<string, number>();
		const found: string[] = [];
		for (const { key: place, seq } of await this.#journal.list({ state: "waiting", prefix })) {
			seen.set(place, seq);
			if (this.#seen.get(place) === seq) continue;
			const [last] = await this.#journal.read(place, { after: seq - 1, limit: 1 });
			const calls = last?.fact.kind === "waiting" ? last.fact.calls : [];
			if (calls.some(({ deadline }) => deadline !== undefined)) found.push(place);
		}
		this.#seen = seen;
		return found;
	}
}
