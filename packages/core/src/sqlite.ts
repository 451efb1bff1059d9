// Entry `holdfast/sqlite`: sessions and checkpoints in SQLite files, with nothing to install. The only entry that touches
// node:sqlite.
import { type Host, journalHost } from "./journal/host.ts";
import {
	type SqliteJournal,
	type SqliteJournalOptions,
	sqliteJournal,
} from "./journal/sqlite/sqlite-journal.ts";

export type { CheckpointStore } from "./checkpoint/index.ts";
export {
	type SqliteCheckpointOptions,
	type SqliteCheckpoints,
	sqliteCheckpoints,
} from "./checkpoint/sqlite/sqlite-checkpoints.ts";
export { type SqliteJournal, type SqliteJournalOptions, sqliteJournal };

/** Options of `sqliteHost`. */
export type SqliteHostOptions = SqliteJournalOptions;

/**
 * A host whose sessions survive in a SQLite file. Several processes may open the same file on one machine.
 * @throws HoldfastError `journal_foreign`, `journal_newer`, `journal_corrupt`, `journal_unavailable`; the file is left alone.
 */
export function sqliteHost(options: string | SqliteHostOptions): Host {
	const journal = sqliteJournal(typeof options === "string" ? { path: options } : options);
	return { ...journalHost(journal, { backgroundSubagents: "durable" }), values: journal.values };
}
