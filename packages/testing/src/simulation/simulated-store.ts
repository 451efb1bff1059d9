// The store that the processes share: the one in memory, or the caller's.
import { type Journal, type MemoryJournal, memoryJournal } from "holdfast/host";

/** The simulated time, in milliseconds. */
export interface WorldClock {
	/** Returns the simulated time in milliseconds. */
	now(): number;
}

/** A store for one schedule, and the workers that share it. */
export interface SimulatedStore {
	/** Its name, which starts the trace. */
	readonly name: string;
	/** Codes with which this store may reject: for operations that it lacks, and for conflicts that it detects late. */
	readonly refusals?: readonly string[];
	/** Creates a worker: a journal over the store. An earlier one with the same name was declared dead. */
	worker(name: string): Journal;
	/** From now on the others consider a worker dead; its writes count until it is fenced. */
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
