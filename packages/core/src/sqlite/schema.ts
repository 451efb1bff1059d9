// The tables of a journal file, and the numbered migrations that create them. A released migration never changes; new
// ones are added at the end. The file's `user_version` is the number of applied migrations, its `application_id`
// identifies Holdfast.

import { HoldfastError } from "@holdfast/upp";
import { journalCorrupt, never } from "../facts/index.ts";
import { addChecksums } from "./checksums.ts";
import type { DatabaseKind } from "./open-database.ts";
import { journalError } from "./sqlite-errors.ts";

/**
 * `entries` is a log: rows of all sessions are appended at its end, where pages fill up, and an index finds those of one
 * session. `run_id` is set in the first row of a run (or of a writer that had not read that row); the others refer to it
 * by `run`. `sessions` changes only when a lease is taken and when a run starts, waits or ends, never per step. `look_at`
 * is the time at which a waiting or parked run has to be examined. `incarnation` is created with the row and never
 * changes; null if a release without it, which had the file open during the migration, created the row. Ids of entries
 * are the positions of changes. Every other change of a session takes an id too, stored in `changed`; the row of session
 * 0 keeps the highest one. `sum` is the checksum of a body, or null (checksums.ts). `timers.due_at` is `wake_at`, or the
 * end of its claim. A file whose `session` is null is being written by `worker`, or waits to be removed; its pieces are
 * numbered from `id` × 2^24 on.
 */
const migrations: readonly string[] = [
	`
	CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
	CREATE TABLE workers (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		name TEXT NOT NULL UNIQUE,
		pid INTEGER NOT NULL,
		started TEXT NOT NULL,
		machine TEXT NOT NULL,
		heartbeat INTEGER NOT NULL,
		beat_at INTEGER NOT NULL
	) STRICT;
	CREATE TABLE sessions (
		id INTEGER PRIMARY KEY,
		key TEXT NOT NULL UNIQUE,
		epoch INTEGER NOT NULL,
		owner INTEGER,
		open_run TEXT,
		inputs INTEGER NOT NULL,
		created_at INTEGER NOT NULL,
		updated_at INTEGER NOT NULL
	) STRICT;
	CREATE INDEX sessions_open ON sessions (owner) WHERE open_run IS NOT NULL;
	CREATE TABLE entries (
		id INTEGER PRIMARY KEY,
		session INTEGER NOT NULL,
		seq INTEGER NOT NULL,
		run INTEGER,
		run_id TEXT,
		kind TEXT NOT NULL,
		version INTEGER NOT NULL,
		at INTEGER NOT NULL,
		body TEXT NOT NULL
	) STRICT;
	CREATE UNIQUE INDEX entries_in_order ON entries (session, seq);
	CREATE TABLE inputs (
		session INTEGER NOT NULL,
		position INTEGER NOT NULL,
		id TEXT NOT NULL,
		kind TEXT NOT NULL,
		run_id TEXT,
		dedupe_key TEXT,
		worker TEXT,
		at INTEGER NOT NULL,
		body TEXT NOT NULL,
		PRIMARY KEY (session, position)
	) STRICT, WITHOUT ROWID;
	CREATE TABLE dedupe (
		session INTEGER NOT NULL,
		key TEXT NOT NULL,
		position INTEGER NOT NULL,
		PRIMARY KEY (session, key)
	) STRICT, WITHOUT ROWID;
	`,
	`
	CREATE TABLE session_values (
		session INTEGER NOT NULL,
		owner TEXT NOT NULL,
		name TEXT NOT NULL,
		value TEXT NOT NULL,
		PRIMARY KEY (session, owner, name)
	) STRICT, WITHOUT ROWID;
	`,
	`
	CREATE TABLE records (
		shelf TEXT NOT NULL,
		name TEXT NOT NULL,
		revision INTEGER NOT NULL,
		body TEXT NOT NULL,
		PRIMARY KEY (shelf, name)
	) STRICT, WITHOUT ROWID;
	CREATE INDEX entries_of_run ON entries (run_id) WHERE run_id IS NOT NULL;
	CREATE INDEX inputs_of_run ON inputs (run_id) WHERE run_id IS NOT NULL;
	`,
	`
	CREATE TABLE chunks (
		session INTEGER NOT NULL,
		seq INTEGER NOT NULL,
		sub INTEGER NOT NULL,
		body TEXT NOT NULL,
		PRIMARY KEY (session, seq, sub)
	) STRICT, WITHOUT ROWID;
	`,
	`
	ALTER TABLE sessions ADD COLUMN look_at INTEGER;
	UPDATE sessions SET look_at = (
		SELECT CASE e.kind WHEN 'run.parked' THEN ${never}
			WHEN 'waiting' THEN (SELECT ifnull(min(value ->> 'deadline'), ${never}) FROM json_each(e.body, '$.calls')) END
		FROM entries e WHERE e.session = sessions.id ORDER BY e.seq DESC LIMIT 1)
		WHERE open_run IS NOT NULL;
	DROP INDEX sessions_open;
	CREATE INDEX sessions_at_work ON sessions (owner) WHERE open_run IS NOT NULL AND look_at IS NULL;
	CREATE INDEX sessions_to_look_at ON sessions (look_at) WHERE look_at IS NOT NULL;
	`,
	`
	ALTER TABLE sessions ADD COLUMN incarnation TEXT;
	UPDATE sessions SET incarnation = lower(hex(randomblob(10)));
	`,
	`
	ALTER TABLE sessions ADD COLUMN changed INTEGER;
	CREATE INDEX sessions_changed ON sessions (changed) WHERE changed IS NOT NULL;
	CREATE TABLE removed_sessions (
		number INTEGER PRIMARY KEY,
		position INTEGER NOT NULL UNIQUE,
		key TEXT NOT NULL,
		incarnation TEXT NOT NULL,
		seq INTEGER NOT NULL
	) STRICT;
	CREATE TABLE timers (
		session INTEGER NOT NULL,
		name TEXT NOT NULL,
		wake_at INTEGER NOT NULL,
		due_at INTEGER NOT NULL,
		attempt INTEGER NOT NULL,
		claim TEXT,
		body TEXT,
		PRIMARY KEY (session, name)
	) STRICT, WITHOUT ROWID;
	CREATE INDEX timers_due ON timers (due_at);
	CREATE TABLE files (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		session INTEGER,
		owner TEXT NOT NULL,
		name TEXT NOT NULL,
		size INTEGER NOT NULL,
		at INTEGER NOT NULL,
		worker INTEGER
	) STRICT;
	CREATE UNIQUE INDEX files_by_name ON files (session, owner, name) WHERE session IS NOT NULL;
	CREATE INDEX files_loose ON files (id) WHERE session IS NULL;
	CREATE TABLE file_pieces (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT;
	ALTER TABLE workers ADD COLUMN uptime INTEGER;
	`,
	addChecksums,
];

/** Journals in files. */
export const journalFile: DatabaseKind = {
	/** "HFJL" */
	applicationId: 0x48464a4c,
	migrations,
	tables: [
		"meta",
		"workers",
		"sessions",
		"entries",
		"inputs",
		"dedupe",
		"session_values",
		"records",
		"chunks",
		"removed_sessions",
		"timers",
		"files",
		"file_pieces",
	],
	instead: "use memoryHost() for a journal in memory",
	foreign: (path, what) =>
		new HoldfastError(
			"journal_foreign",
			`${path} is not a Holdfast journal: ${what}. It is unchanged; give the path of another file.`,
			{ data: { path } },
		),
	newer: (path, version, known) =>
		new HoldfastError(
			"journal_newer",
			`${path} has version ${version}, and this release supports versions up to ${known}. ` +
				"A newer release wrote it. Upgrade; the file is unchanged.",
			{ data: { path, version } },
		),
	unavailable: (what, cause) =>
		new HoldfastError("journal_unavailable", `The journal is not available: ${what}.`, { cause }),
	damaged: (path, what) => journalCorrupt(`${path} ${what}`),
	errorOf: journalError,
};
