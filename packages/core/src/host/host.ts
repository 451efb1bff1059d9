// A host: where an agent's sessions live. What a host offers beside its journal grows here.

import type { Journal } from "./journal.ts";
import { type MemoryJournalOptions, memoryJournal } from "./memory.ts";
import type { ValueStore } from "./values.ts";

/** What a host can do beside keeping things. */
export interface ExecutionCapabilities {
	/**
	 * Whether sub-agents may work in the background: `durable` when their runs survive the process, `in-process` when they
	 * live as long as it does. Absent: they may not, and the model is offered blocking delegation only.
	 */
	readonly backgroundSubagents?: "durable" | "in-process";
}

/** A place for sessions. Made by `memoryHost()` or, from `holdfast/sqlite`, by `sqliteHost(path)`. */
export interface Host {
	readonly journal: Journal;
	/** What it can do beside keeping sessions. Default: background work that lives as long as the process. */
	readonly capabilities?: ExecutionCapabilities;
	/** Values kept beside the sessions, for plugins. Default: in memory. */
	readonly values?: ValueStore;
	/** Commits what is under way and closes the journal. Calling it twice is harmless. */
	close(): Promise<void>;
}

/** A host whose sessions live as long as this object: for tests and for agents that need not survive. */
export function memoryHost(options: MemoryJournalOptions = {}): Host {
	return journalHost(memoryJournal(options));
}

/** A host of one journal. */
export function journalHost(
	journal: Journal,
	capabilities: ExecutionCapabilities = { backgroundSubagents: "in-process" },
): Host {
	return { journal, capabilities, close: async () => journal.close() };
}
