// A host: the location of an agent's sessions and of the data stored with them. Each port is a small interface of its
// own.
import type { ChangeLog } from "./changes.ts";
import type { FileStore } from "./files.ts";
import type { Journal } from "./journal.ts";
import type { RecordSpace } from "./records.ts";
import type { RunIndex } from "./run-index.ts";
import type { StoreStats } from "./store-stats.ts";
import type { TimerStore } from "./timers.ts";
import { memoryValues, type ValueStore } from "./values.ts";
import type { WorkQueue } from "./work-queue.ts";

/** The capabilities of a host besides storage. */
export interface ExecutionCapabilities {
	/**
	 * Whether sub-agents may work in the background: `durable` when their runs survive the process, `in-process` when they
	 * live as long as it does. Absent: they may not, and the model is offered blocking delegation only.
	 */
	readonly backgroundSubagents?: "durable" | "in-process";
}

/**
 * Where sessions live. Made by `memoryHost()` or, from `holdfast/sqlite`, by `sqliteHost(path)`, which offer every port.
 * A host over a bare session store has a journal and values.
 */
export interface Host {
	readonly journal: Journal;
	/** Its capabilities besides storing sessions. Default: background work that lives as long as the process. */
	readonly capabilities?: ExecutionCapabilities;
	/** Small values under a name, of a session and an owner such as a plugin. */
	readonly values: ValueStore;
	/** Small values of no session, replaced by compare-and-swap, several in one transaction. */
	readonly records?: RecordSpace;
	/** Bytes under a name, of a session and an owner, streamed in and out. */
	readonly files?: FileStore;
	/** Timers of sessions that survive the process, and are claimed by the store's supervisors. */
	readonly timers?: TimerStore;
	/** Everything that happens in the store, in one order. */
	readonly changes?: ChangeLog;
	/** Where a run is in the journal. */
	readonly runs?: RunIndex;
	/** Hands out due work. Absent: supervisors scan the journal. */
	readonly queue?: WorkQueue;
	/** Statistics for operators of the store. Rejects as the store does. */
	readonly stats?: () => Promise<StoreStats>;
	/** Finishes pending commits and closes the journal. Calling it twice is harmless. */
	close(): Promise<void>;
}

/** A host of one journal, with values in memory unless others are given. */
export function journalHost(
	journal: Journal,
	{
		capabilities = { backgroundSubagents: "in-process" },
		values = memoryValues(),
	}: Partial<Pick<Host, "capabilities" | "values">> = {},
): Host {
	return { journal, capabilities, values, close: async () => journal.close() };
}
