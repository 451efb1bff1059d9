// The journal over a bare session store as the store of a simulated world. It knows no leases, so worlds over it have no
// workers that lose one: see `bareFaults`.

import { MemorySessionStore, storeJournal } from "@holdfast/stores";
import type { SimulatedStore, WorldClock, WorldFault } from "@holdfast/testing";
import type { Journal } from "holdfast/host";

/** What may go wrong in a world over a bare store. */
export const bareFaults: readonly WorldFault[] = ["crash", "clock", "store", "model", "tool"];

/** A store for one schedule. */
export function bareStore(clock: WorldClock): SimulatedStore {
	const store = new MemorySessionStore();
	const journals: Journal[] = [];
	return {
		name: "bare store",
		refusals: ["session_conflict", "fold_unsupported"],
		worker(workerId) {
			const journal = storeJournal(store, { clock, workerId });
			journals.push(journal);
			return journal;
		},
		takeForDead(worker) {
			void worker.close();
		},
		async end() {
			for (const journal of journals) await journal.close();
		},
	};
}
