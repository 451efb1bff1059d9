// The in-memory host: every port, until the process ends.
import { checkOptions, optionNames } from "@holdfast/upp";
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

const memoryHostNames = optionNames<MemoryHostOptions>({
	files: "object",
	clock: "object",
	workerId: "text",
});

/** Options of `memoryHost`. */
export interface MemoryHostOptions extends MemoryJournalOptions {
	/** Limits on file sizes. */
	readonly files?: FileLimits;
}

/**
 * Creates a host whose sessions live as long as this object: for tests, and for agents that need not survive the process.
 */
export function memoryHost(options: MemoryHostOptions = {}): Required<Omit<Host, "queue" | "stats">> {
	checkOptions(options, memoryHostNames, { of: "memoryHost()" });
	const store = newStore(options.clock);
	const journal = workerOf(store, options.workerId ?? "memory");
	// Most agents need only the journal: other ports are created on first access.
	const made: { -readonly [Port in keyof Host]?: Host[Port] } = {};
	return {
		journal,
		capabilities: inProcess,
		get values() {
			made.values ??= valuesBeside(store);
			return made.values;
		},
		get records() {
			made.records ??= memoryRecords();
			return made.records;
		},
		get files() {
			made.files ??= filesBeside(store, options.files);
			return made.files;
		},
		get timers() {
			made.timers ??= timersBeside(store);
			return made.timers;
		},
		get changes() {
			made.changes ??= memoryChanges(store);
			return made.changes;
		},
		get runs() {
			made.runs ??= memoryRuns(store, journal.workerId);
			return made.runs;
		},
		close: async () => journal.close(),
	};
}

const inProcess = { backgroundSubagents: "in-process" } as const;
