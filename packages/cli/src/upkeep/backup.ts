/**
 * Copies a journal that may be in use: one consistent snapshot, checked and complete before it gets its name. In the copy
 * nothing has an owner: the workers of the original would seem to be alive there and hold its sessions forever.
 */
import { closeSync, openSync, realpathSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { makeFolder } from "@holdfast/upp";
import { type JournalFile, openJournalFile } from "holdfast/sqlite";
import { type CheckReport, checkJournal } from "./check.ts";
import { checkPlace, type Existing, placeFile, realPlace, syncFile } from "./place-file.ts";
import { UpkeepError } from "./upkeep-error.ts";

const instead = "Give another path, or --force to replace it.";

/** Options of `backupJournal`. */
export interface BackupOptions {
	/** Path of the journal. */
	readonly from: string;
	/** Path of the copy. */
	readonly to: string;
	/** How to treat an existing file. */
	readonly existing: Existing;
}

/**
 * Creates the copy. An existing file stays until the copy is complete.
 * @throws UpkeepError if the target is not allowed; HoldfastError for read and write errors.
 */
export function backupJournal({ from, to, existing }: BackupOptions): CheckReport {
	const source = openJournalFile(from, "read");
	const partial = `${to}.partial-${process.pid}`;
	try {
		makeFolder(dirname(to));
		refuseItself(from, to);
		checkPlace(to, existing, instead);
		// Conversations are private: only this user may read the copy.
		closeSync(openSync(partial, "wx", 0o600));
		attempt(source, () => source.database.prepare("VACUUM INTO ?").run(partial));
		const report = ownNothing(partial);
		if (report.problems.length > 0)
			throw new UpkeepError(
				`The copy was not kept: the journal is damaged. ${report.problems[0]?.what}. See: holdfast db check.`,
			);
		syncFile(partial);
		placeFile(partial, to, existing, instead);
		syncFile(dirname(to));
		return report;
	} finally {
		source.database.close();
		for (const suffix of ["", "-wal", "-shm", "-journal"]) rmSync(partial + suffix, { force: true });
	}
}

function refuseItself(from: string, to: string): void {
	if (realPlace(to) === realpathSync(from))
		throw new UpkeepError("The copy would replace the journal itself.");
}

/** Removes all owners from the copy: open runs are interrupted in it, and any worker may start its inputs. */
function ownNothing(path: string): CheckReport {
	const copy = openJournalFile(path, "write");
	try {
		copy.database.exec("BEGIN IMMEDIATE; DELETE FROM workers; UPDATE sessions SET owner = NULL; COMMIT");
		return checkJournal(copy, "quick");
	} catch (error) {
		throw copy.error(error);
	} finally {
		copy.database.close();
	}
}

function attempt(file: JournalFile, work: () => unknown): void {
	try {
		work();
	} catch (error) {
		throw file.error(error);
	}
}
