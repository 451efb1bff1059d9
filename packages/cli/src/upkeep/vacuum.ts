/** Releases the space of removed rows and erases their contents by rewriting the file and emptying the log. */
import { statSync } from "node:fs";
import { type JournalFile, openJournalFile } from "holdfast/sqlite";
import { UpkeepError } from "./upkeep-error.ts";

/** Size in bytes of the file and its log. */
export interface Vacuumed {
	readonly before: number;
	readonly after: number;
}

/**
 * Vacuums a journal; writers wait until it ends. `patience` is how many milliseconds it waits for others.
 * @throws UpkeepError if others keep the file busy; HoldfastError `disk_full`, and the errors of opening it.
 */
export function vacuumJournal(path: string, patience = 10_000): Vacuumed {
	const file = openJournalFile(path, "write");
	const { database } = file;
	const before = bytesOf(path);
	try {
		database.exec(`PRAGMA busy_timeout = ${patience}`);
		database.exec("VACUUM");
		if (!emptyLog(file, performance.now() + patience))
			throw new UpkeepError(
				"The file was rewritten, but another process uses its log, so its size and its old pages stay for now. " +
					"Run the command again when no check, backup or other program reads the file.",
			);
	} catch (error) {
		if (error instanceof UpkeepError) throw error;
		const known = file.error(error);
		if (known.code !== "journal_unavailable") throw known;
		throw new UpkeepError(
			`The file is busy: for ${patience / 1_000} seconds other processes used it without a pause. ` +
				"Nothing was changed; try again when the file is less busy.",
		);
	} finally {
		database.close();
	}
	return { before, after: bytesOf(path) };
}

function bytesOf(path: string): number {
	return ["", "-wal"].reduce(
		(sum, suffix) => sum + (statSync(path + suffix, { throwIfNoEntry: false })?.size ?? 0),
		0,
	);
}

/** Moves the log into the file and empties it as soon as other processes pause. */
function emptyLog({ database }: JournalFile, until: number): boolean {
	// SQLite's busy handler sleeps too long to catch the short gaps between active writers.
	database.exec("PRAGMA busy_timeout = 0");
	const attempt = database.prepare("PRAGMA wal_checkpoint(TRUNCATE)");
	for (;;) {
		const { busy } = attempt.get() as { busy: number };
		if (busy === 0) return true;
		if (performance.now() > until) return false;
		Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
	}
}
