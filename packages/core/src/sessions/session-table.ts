// The sessions of one agent in this process: one worker object a key, kept while it works and a while after (keeps I7).
import type { Journal } from "../journal/index.ts";
import type { SessionAgent } from "./session-agent.ts";
import { childPrefix, sessionPlace } from "./session-key.ts";
import { SessionWorker } from "./session-worker.ts";

/** How many idle sessions keep their folded state in memory; older ones are read again from the journal when used. */
const idleSessions = 1_000;

export class SessionTable {
	readonly agent: SessionAgent;
	readonly journal: Journal;
	readonly #workers = new Map<string, SessionWorker>();
	readonly #idle = new Set<string>();
	#closed = false;

	constructor(agent: SessionAgent, journal: Journal) {
		this.agent = agent;
		this.journal = journal;
	}

	/** The one worker of a caller's key. */
	worker(key: string): SessionWorker {
		return this.workerAt(sessionPlace(this.agent.namespace, key), key);
	}

	/** The one worker of a place in the store. */
	workerAt(place: string, key: string): SessionWorker {
		const known = this.#workers.get(place);
		if (known !== undefined) {
			this.#idle.delete(place);
			return known;
		}
		const worker = new SessionWorker(this.agent, this.journal, place, key, () => this.#rest(place));
		if (this.#closed) void worker.close();
		else this.#workers.set(place, worker);
		return worker;
	}

	/** Ends the runs of a session. The next handle gets a new worker. */
	async kill(worker: SessionWorker): Promise<void> {
		this.#forget(worker);
		await worker.kill();
	}

	/** Removes a session and its child sessions. */
	async delete(worker: SessionWorker): Promise<void> {
		this.#forget(worker);
		const removed = (async () => {
			const prefix = childPrefix(worker.place);
			for (const { key: place } of await this.journal.list({ after: prefix })) {
				if (!place.startsWith(prefix)) break;
				await this.delete(this.workerAt(place, place));
			}
			await this.journal.delete(worker.place);
		})();
		await worker.kill(removed);
	}

	/** Suspends all runs under way and waits until they are left. */
	async close(): Promise<void> {
		this.#closed = true;
		await Promise.all([...this.#workers.values()].map((worker) => worker.close()));
		this.#workers.clear();
		this.#idle.clear();
	}

	#forget(worker: SessionWorker): void {
		if (this.#workers.get(worker.place) === worker) this.#workers.delete(worker.place);
		this.#idle.delete(worker.place);
	}

	#rest(place: string): void {
		if (!this.#workers.has(place)) return;
		this.#idle.delete(place);
		this.#idle.add(place);
		if (this.#idle.size <= idleSessions) return;
		for (const oldest of this.#idle) {
			this.#idle.delete(oldest);
			if (this.#workers.get(oldest)?.retire() === true) this.#workers.delete(oldest);
			break;
		}
	}
}
