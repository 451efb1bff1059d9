// The tables of a checkpoint file, the numbered migrations that create them, and the errors of such files. A released
// migration never changes; new ones are added at the end.
import { HoldfastError, isHoldfastError, messageOf } from "@holdfast/upp";
import type { DatabaseKind } from "../../sqlite/index.ts";
import { isDamaged } from "../../sqlite/index.ts";

/**
 * A row of `sessions` is a session's latest checkpoint: its state without the lists, and for each list the numbers of its
 * items. `items` stores each message, reasoning trace and sub-agent trace once.
 */
const migrations: readonly string[] = [
	`
	CREATE TABLE sessions (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		name TEXT NOT NULL UNIQUE,
		checkpoint_id TEXT NOT NULL,
		saved_at INTEGER NOT NULL,
		body TEXT NOT NULL
	) STRICT;
	CREATE TABLE items (
		session INTEGER NOT NULL,
		list TEXT NOT NULL,
		number INTEGER NOT NULL,
		body TEXT NOT NULL,
		PRIMARY KEY (session, list, number)
	) STRICT;
	`,
];

/** Checkpoints in files. */
export const checkpointFile: DatabaseKind = {
	/** "HFCP" */
	applicationId: 0x48464350,
	migrations,
	tables: ["sessions", "items"],
	instead: "keep states in a Map for checkpoints in memory",
	foreign: (path, what) =>
		new HoldfastError(
			"checkpoint_foreign",
			`${path} does not contain Holdfast checkpoints: ${what}. It is unchanged; give the path of another file.`,
			{ data: { path } },
		),
	newer: (path, version, known) =>
		new HoldfastError(
			"checkpoint_newer",
			`${path} has version ${version}, and this release supports versions up to ${known}. ` +
				"A newer release wrote it. Upgrade; the file is unchanged.",
			{ data: { path, version } },
		),
	unavailable: (what, cause) => checkpointFailed(what, cause),
	damaged: (path, what) => checkpointCorrupt(`${path} ${what}`),
	errorOf(error) {
		if (isHoldfastError(error)) return error;
		if (isDamaged(error)) return checkpointCorrupt("SQLite cannot read the file", error);
		return checkpointFailed(messageOf(error), error);
	},
};

/** The stored data cannot have been written by a checkpoint store. */
export function checkpointCorrupt(what: string, cause?: unknown): HoldfastError {
	return new HoldfastError(
		"checkpoint_corrupt",
		`The checkpoints are damaged: ${what}. Restore a backup of the file, or delete the session.`,
		{ cause },
	);
}

function checkpointFailed(what: string, cause: unknown): HoldfastError {
	return new HoldfastError(
		"checkpoint_failed",
		`The checkpoints cannot be used: ${what}. Check the path, the disk and the permissions, then try again.`,
		{ cause, retryable: true },
	);
}
