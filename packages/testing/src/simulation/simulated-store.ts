// The store that the processes of a world share: the one in memory, or one that a caller brings.
import { type Journal, type MemoryJournal, memoryJournal } from "holdfast/host";

/** The time of a world, in milliseconds. */
export interface WorldClock {
	now(): number;
}

/** A store for one schedule, and the workers that share it. */
export interface SimulatedStore {
	/** Its name, which the trace begins with. */
	readonly name: string;
	/** Codes of errors that only this store has: what it cannot do, or notices late. */
	readonly refusals?: readonly string[];
	/** A new worker: a journal over the store. One of the same name was taken for dead before. */
	worker(name: string): Journal;
	/** From now on the others take a worker for dead; what it still does counts until it is fenced. */
	takeForDead(worker: Journal): void;
	/** Ends all workers and removes the store. */
	end(): Promise<void>;
}

/** The store in memory. */
export function memoryStore(clock: WorldClock): SimulatedStore {
	const first = memoryJournal({ workerId: "first", clock });
	return {
		name: "memory",
		worker: (name) => first.worker(name),
		takeForDead: (worker) => (worker as MemoryJournal).die(),
		async end() {},
	};
}
