/**
 * A copy of a journal while others write to it: one moment of it, checked, and whole before it has its name. In the copy
 * nothing has an owner: the workers of the original would seem to live there, and keep its sessions for good.
 */
import {
	chmodSync,
	closeSync,
	existsSync,
	fsyncSync,
	linkSync,
	mkdirSync,
	openSync,
	realpathSync,
	renameSync,
	rmSync,
	statSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { type JournalFile, openJournalFile } from "holdfast/sqlite";
import { type CheckReport, checkJournal } from "./check.ts";
import { UpkeepError } from "./upkeep-error.ts";

/** What `backupJournal` must know. */
export interface BackupOptions {
	/** The journal. */
	readonly from: string;
	/** The copy. */
	readonly to: string;
	/** What to do with a file that is there already. */
	readonly existing: "keep" | "replace";
}

/**
 * Makes the copy. What is at its place stays there until the copy is whole.
 * @throws UpkeepError when it may not be made there; HoldfastError for what cannot be read or written.
 */
export function backupJournal({ from, to, existing }: BackupOptions): CheckReport {
	const source = openJournalFile(from, "read");
	const partial = `${to}.partial-${process.pid}`;
	try {
		mkdirSync(dirname(to), { recursive: true });
		checkPlace(from, to, existing);
		// Conversations hold private things: only this user may read the copy.
		closeSync(openSync(partial, "wx", 0o600));
		attempt(source, () => source.database.prepare("VACUUM INTO ?").run(partial));
		const report = ownNothing(partial);
		if (report.problems.length > 0)
			throw new UpkeepError(
				`The copy was not kept: the journal is damaged. ${report.problems[0]?.what}. See: holdfast db check.`,
			);
		sync(partial);
		place(partial, to, existing);
		sync(dirname(to));
		return report;
	} finally {
		source.database.close();
		for (const suffix of ["", "-wal", "-shm", "-journal"]) rmSync(partial + suffix, { force: true });
	}
}

function checkPlace(from: string, to: string, existing: BackupOptions["existing"]): void {
	const target = existsSync(to) ? realpathSync(to) : join(realpathSync(dirname(to)), basename(to));
	if (target === realpathSync(from)) throw new UpkeepError("The copy would replace the journal itself.");
	if (existsSync(to) && statSync(to).isDirectory())
		throw new UpkeepError(`${to} is a folder. Give the path of a file.`);
	if (existsSync(to) && existing === "keep") throw taken(to);
	// A log of another database would be taken for one of the copy.
	const log = ["-wal", "-journal"].find((suffix) => existsSync(target + suffix));
	if (log !== undefined)
		throw new UpkeepError(
			`There is a file ${target}${log}: a database of that name is open, or was not closed. Give another path.`,
		);
}

/** The copy has no owner: runs that were open are interrupted in it, and inputs are anyone's to start. */
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

function place(partial: string, to: string, existing: BackupOptions["existing"]): void {
	chmodSync(partial, 0o600);
	if (existing === "replace") {
		renameSync(partial, to);
		return;
	}
	try {
		// A link, unlike a rename, replaces no file.
		linkSync(partial, to);
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "EEXIST") throw taken(to);
		renameSync(partial, to); // a file system without links
	}
}

function taken(to: string): UpkeepError {
	return new UpkeepError(`There is a file ${to} already. Give another path, or --force to replace it.`);
}

function sync(path: string): void {
	const file = openSync(path, "r");
	try {
		fsyncSync(file);
	} catch {
		// Some file systems cannot: the copy is there, and as safe as they make it.
	} finally {
		closeSync(file);
	}
}

function attempt(file: JournalFile, work: () => unknown): void {
	try {
		work();
	} catch (error) {
		throw file.error(error);
	}
}
