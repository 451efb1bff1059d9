// The sessions of one agent in this process: one worker object a key, kept while it works and a while after (keeps I7).
import type { EngineAgent } from "../engine/index.ts";
import type { Journal } from "../journal/index.ts";
import { SessionWorker } from "./session-worker.ts";

/** How many idle sessions keep their folded state in memory; older ones are read again from the journal when used. */
const idleSessions = 1_000;

export class SessionTable {
	readonly agent: EngineAgent;
	readonly journal: Journal;
	readonly #workers = new Map<string, SessionWorker>();
	readonly #idle = new Set<string>();
	#closed = false;

	constructor(agent: EngineAgent, journal: Journal) {
		this.agent = agent;
		this.journal = journal;
	}

	/** The one worker of a key. */
	worker(key: string): SessionWorker {
		const known = this.#workers.get(key);
		if (known !== undefined) {
			this.#idle.delete(key);
			return known;
		}
		const worker = new SessionWorker(this.agent, this.journal, key, () => this.#rest(key));
		if (this.#closed) void worker.close();
		else this.#workers.set(key, worker);
		return worker;
	}

	/** Suspends all runs under way and waits until they are left. */
	async close(): Promise<void> {
		this.#closed = true;
		await Promise.all([...this.#workers.values()].map((worker) => worker.close()));
		this.#workers.clear();
		this.#idle.clear();
	}

	#rest(key: string): void {
		this.#idle.delete(key);
		this.#idle.add(key);
		if (this.#idle.size <= idleSessions) return;
		for (const oldest of this.#idle) {
			this.#idle.delete(oldest);
			if (this.#workers.get(oldest)?.idle === true) this.#workers.delete(oldest);
			break;
		}
	}
}
