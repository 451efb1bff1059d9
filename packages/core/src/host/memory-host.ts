// The host in memory: every port there is, and gone with the process.
import type { FileLimits } from "./files.ts";
import type { Host } from "./host-port.ts";
import { memoryChanges } from "./memory-changes.ts";
import { filesBeside } from "./memory-files.ts";
import { type MemoryJournalOptions, workerOf } from "./memory-journal.ts";
import { memoryRecords } from "./memory-records.ts";
import { memoryRuns } from "./memory-runs.ts";
import { newStore } from "./memory-store.ts";
import { timersBeside } from "./memory-timers.ts";
import { valuesBeside } from "./memory-values.ts";

/** Options of `memoryHost`. */
export interface MemoryHostOptions extends MemoryJournalOptions {
	/** How large files may become. */
	readonly files?: FileLimits;
}

/** A host whose sessions live as long as this object: for tests and for agents that need not survive. */
export function memoryHost(options: MemoryHostOptions = {}): Required<Host> {
	const store = newStore(options.clock);
	const journal = workerOf(store, options.workerId ?? "memory");
	return {
		journal,
		capabilities: { backgroundSubagents: "in-process" },
		values: valuesBeside(store),
		records: memoryRecords(),
		files: filesBeside(store, options.files),
		timers: timersBeside(store),
		changes: memoryChanges(store),
		runs: memoryRuns(store, journal.workerId),
		close: async () => journal.close(),
	};
}
