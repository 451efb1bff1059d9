// A host: where an agent's sessions live. What a host offers beside its journal grows here.
import type { ExecutionCapabilities, ExecutionHost } from "../execution-host/execution-host.ts";
import type { ValueStore } from "../plugins/session-values.ts";
import type { SessionStore } from "../session-store/session-store.ts";
import type { Journal } from "./journal.ts";
import { type MemoryJournalOptions, memoryJournal } from "./memory.ts";

/** A place for sessions. Made by `memoryHost()` or, from `holdfast/sqlite`, by `sqliteHost(path)`. */
export interface Host {
	readonly journal: Journal;
	/** What it can do beside keeping sessions. Default: background work that lives as long as the process. */
	readonly capabilities?: ExecutionCapabilities;
	/** Values kept beside the sessions, for plugins. Default: in memory. */
	readonly values?: ValueStore;
	/** Commits what is under way and closes the journal. Calling it twice is harmless. */
	close(): Promise<void>;
	/** Runs, checkpoints, events and notifications beside the journal, where the host keeps them. */
	readonly execution?: ExecutionHost;
}

/** A bare session store as a host: it keeps sessions, and has neither leases nor news of other processes. */
export interface SessionStoreHost {
	readonly sessionStore: SessionStore;
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
