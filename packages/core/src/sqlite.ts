// Entry point `holdfast/sqlite`: sessions and checkpoints in SQLite files, with nothing to install. The only entry point
// that uses node:sqlite.
import { HoldfastTypeError } from "@holdfast/upp";
import type { OwnExecutionHost } from "./execution-host/in-memory.ts";
import { journalExecution } from "./execution-host/over-journal/journal-execution.ts";
import type { Host } from "./host/host-port.ts";
import {
	type JournalDatabase,
	type JournalFile,
	type JournalKey,
	type JournalStatement,
	openJournalFile,
} from "./sqlite/journal-file.ts";
import { type SqliteJournal, type SqliteJournalOptions, sqliteJournal } from "./sqlite/sqlite-journal.ts";

export type { CheckpointStore } from "./checkpoint/checkpoint-store.ts";
export {
	type SqliteCheckpointOptions,
	type SqliteCheckpoints,
	sqliteCheckpoints,
} from "./checkpoint/sqlite/sqlite-checkpoints.ts";
export { type Identity, isProcessGone, ownIdentity } from "./sqlite/liveness.ts";
export {
	type JournalDatabase,
	type JournalFile,
	type JournalKey,
	type JournalStatement,
	openJournalFile,
	type SqliteJournal,
	type SqliteJournalOptions,
	sqliteJournal,
};

/** Options of `sqliteHost`. */
export type SqliteHostOptions = SqliteJournalOptions;

/** A host in a SQLite file: its sessions, and everything that an execution host stores with them. */
export interface SqliteHost
	extends Omit<Required<Host>, keyof OwnExecutionHost | "queue" | "stats">,
		OwnExecutionHost {
	/** The execution host over the same file. */
	readonly execution: OwnExecutionHost;
	/** Whether background work survives the process. */
	readonly capabilities: OwnExecutionHost["capabilities"];
}

/**
 * Creates a host whose sessions are stored durably in a SQLite file. Several processes on one machine may open the same
 * file.
 * @throws HoldfastError `journal_foreign`, `journal_newer`, `journal_corrupt`, `journal_unavailable`; the file is not
 * changed. `invalid_option` without options.
 */
export function sqliteHost(options: string | SqliteHostOptions): SqliteHost {
	if (typeof options !== "string" && (typeof options !== "object" || options === null))
		throw new HoldfastTypeError(
			"invalid_option",
			"sqliteHost() takes the path of a file, or options: { path }.",
		);
	const { clock, ...given } = typeof options === "string" ? { path: options } : options;
	const journal = sqliteJournal(clock === undefined ? given : { ...given, clock });
	const { values, records, files, timers, changes, runs } = journal;
	const capabilities = { backgroundSubagents: "durable" } as const;
	const execution = journalExecution({ journal, records, runs, capabilities, clock });
	const ports = { journal, capabilities, values, records, files, timers, changes, runs };
	return { ...ports, ...execution, execution, close: async () => journal.close() };
}
