// A host: stores an agent's sessions and the data that belongs to them. Each port is a small interface.
import type { ChangeLog } from "./changes.ts";
import type { FileStore } from "./files.ts";
import type { Journal } from "./journal.ts";
import type { RecordSpace } from "./records.ts";
import type { RunIndex } from "./run-index.ts";
import type { StoreStats } from "./store-stats.ts";
import type { TimerStore } from "./timers.ts";
import { memoryValues, type ValueStore } from "./values.ts";
import type { WorkQueue } from "./work-queue.ts";

/** The capabilities of a host in addition to storage. */
export interface ExecutionCapabilities {
	/**
	 * Whether sub-agents may work in the background: `durable` if their runs survive the process, `in-process` if they
	 * end with it. Absent: they may not, and the model is offered blocking delegation only.
	 */
	readonly backgroundSubagents?: "durable" | "in-process";
}

/**
 * Stores sessions. Created by `memoryHost()` or, from `holdfast/sqlite`, by `sqliteHost(path)`, which offer every port. A
 * host over a bare session store has only a journal and values.
 */
export interface Host {
	/** The sessions: their entries, inputs and leases. */
	readonly journal: Journal;
	/** Its capabilities in addition to storing sessions. Default: background work that ends with the process. */
	readonly capabilities?: ExecutionCapabilities;
	/** Small named values of a session and an owner, such as a plugin. */
	readonly values: ValueStore;
	/** Small values that belong to no session, replaced by compare-and-swap, several in one transaction. */
	readonly records?: RecordSpace;
	/** Named files of a session and an owner, streamed in and out. */
	readonly files?: FileStore;
	/** Timers of sessions. They survive the process, and the store's supervisors claim them. */
	readonly timers?: TimerStore;
	/** All changes of the store, in one order. */
	readonly changes?: ChangeLog;
	/** Finds the position of a run in the journal. */
	readonly runs?: RunIndex;
	/** Hands out due work. Absent: supervisors scan the journal. */
	readonly queue?: WorkQueue;
	/** Returns statistics for operators of the store. Rejects with errors of the store. */
	readonly stats?: () => Promise<StoreStats>;
	/** Finishes pending commits and closes the journal. Further calls have no effect. */
	close(): Promise<void>;
}

/** The ports for data that belongs to sessions, by store key. */
export type SessionData = Pick<Host, "values" | "files">;

/** Creates a host from one journal, with values in memory unless others are given. */
export function journalHost(
	journal: Journal,
	{
		capabilities = { backgroundSubagents: "in-process" },
		values = memoryValues(),
	}: Partial<Pick<Host, "capabilities" | "values">> = {},
): Host {
	return { journal, capabilities, values, close: async () => journal.close() };
}
