/**
 * Moves the contents of a store to another kind of store: a journal's file to a server, or the reverse. The target is
 * either complete or unchanged; the source is renamed, so that no process continues to use it.
 *
 * checked → locked against writers → copied and counted in one transaction of the target → committed → the source
 * renamed. A process that dies before the commit changes nothing; after it, both are complete and the source keeps its
 * old name.
 */
import { existsSync, renameSync, rmSync } from "node:fs";
import type { PostgresHostOptions } from "@holdfast/postgres";
import { moveOut, writeStore } from "@holdfast/postgres/upkeep";
import { fromStored, type StoreSize } from "holdfast/host";
import { type JournalFile, openJournalFile, sqliteJournal } from "holdfast/sqlite";
import { checkJournal } from "./check.ts";
import { dumpFile } from "./dump-file.ts";
import { realPlace } from "./place-file.ts";
import { UpkeepError } from "./upkeep-error.ts";
import { writeFile } from "./write-file.ts";

/** The result of a move. */
export interface Moved {
	/** The amount of moved data, as counted in the target. */
	readonly size: StoreSize;
	/** The new location of the source: the path of a file, or the name of a schema. */
	readonly left: string;
}

type Progress = (size: StoreSize) => void;

/** Milliseconds to wait for other writers. */
const patience = 10_000;

/**
 * Moves a file to a server.
 * @throws UpkeepError if the file is damaged or in use; HoldfastError `store_not_empty`, `db_unavailable`, and the errors
 * of opening it.
 */
export async function moveToServer(
	path: string,
	to: PostgresHostOptions,
	onProgress: Progress,
): Promise<Moved> {
	const known = await refuseLiving(path);
	let file: JournalFile | undefined;
	try {
		file = openJournalFile(path, "write");
		const { database } = file;
		database.exec(`PRAGMA busy_timeout = ${patience}`);
		database.exec("BEGIN IMMEDIATE");
		if (workersOf(file).some(({ name }) => !known.has(name)))
			throw new UpkeepError("Another process started to use the file. Stop it first; nothing was changed.");
		const { problems } = checkJournal(file, "quick");
		if (problems.length > 0)
			throw new UpkeepError(
				`Nothing was moved: ${path} is damaged. ${problems[0]?.what}. See: holdfast db check.`,
			);
		const size = await writeStore(to, dumpFile(file), { onProgress });
		return { size, left: setAside(file, path) };
	} catch (error) {
		throw error instanceof UpkeepError || file === undefined ? error : file.error(error);
	} finally {
		if (file?.database.isTransaction === true) file.database.exec("ROLLBACK");
		file?.database.close();
	}
}

/**
 * Moves a server's store to a new file.
 * @throws UpkeepError if the file exists or the source is damaged; HoldfastError `store_in_use`, `db_unavailable` and the
 * like.
 */
export async function moveToFile(
	from: PostgresHostOptions,
	path: string,
	onProgress: Progress,
): Promise<Moved> {
	let size: StoreSize | undefined;
	const { schema } = await moveOut(from, async (dump) => {
		size = await writeFile(path, dump, onProgress);
	});
	return { size: size as StoreSize, left: schema };
}

interface WorkerRow {
	readonly name: string;
	readonly pid: number;
}

function workersOf({ database }: JournalFile): readonly WorkerRow[] {
	return database.prepare("SELECT name, pid FROM workers").all() as WorkerRow[];
}

/** Returns the workers in the file; throws if one is alive. Removes leftovers of interrupted forks and removals. */
async function refuseLiving(path: string): Promise<ReadonlySet<string>> {
	const file = openJournalFile(path, "write");
	const journal = sqliteJournal({ path });
	try {
		const workers = workersOf(file);
		for (const { name, pid } of workers)
			if (await journal.isAlive(fromStored(name)))
				throw new UpkeepError(
					`The file is in use by process ${pid}. Stop the workers and servers that use it first; nothing was changed.`,
				);
		await journal.sweep();
		return new Set(workers.map(({ name }) => name));
	} finally {
		await journal.close();
		file.database.close();
	}
}

/** Merges the log, then renames the file while it is locked against writers. */
function setAside({ database }: JournalFile, path: string): string {
	const place = realPlace(path);
	let left = `${place}.moved`;
	for (let at = 2; existsSync(left); at++) left = `${place}.moved-${at}`;
	renameSync(place, left);
	database.exec("ROLLBACK");
	const { busy } = database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get() as { busy: number };
	// A log with readers is moved along; an empty one is deleted.
	if (busy === 0) rmSync(`${place}-wal`, { force: true });
	else renameSync(`${place}-wal`, `${left}-wal`);
	rmSync(`${place}-shm`, { force: true });
	return left;
}
