// The journal in a SQLite file (keeps I2, I3, I4): several processes may share the file, each with a worker of its own.
import { resolve as resolvePath } from "node:path";
import {
	checkOptionNames,
	HoldfastError,
	longestForeignWait,
	optionNames,
	readDuration,
} from "@holdfast/upp";
import type { FileLimits } from "../host/index.ts";
import { ownConnection } from "./node-connection.ts";
import { openDatabase } from "./open-database.ts";
import { sameFile } from "./same-file.ts";
import { journalFile } from "./schema.ts";
import { type SqlJournal, sqlJournal } from "./sql-journal.ts";
import { registerWorker } from "./worker-row.ts";

/** Options of `sqliteJournal`. */
export interface SqliteJournalOptions {
	/** The file. It and its folders are made when they are missing, the file readable by its user only. */
	readonly path: string;
	/**
	 * The failures that a commit survives. `process` (default): the death of the process at any moment. `power`: a power
	 * failure too, at the price of a disk flush with each shared commit.
	 */
	readonly durability?: "process" | "power";
	/**
	 * Milliseconds after which a worker counts as dead whose process cannot be seen or does not move. Default 15,000.
	 * Shorter: a hung worker's sessions continue earlier; longer: less is written. Dead processes are noticed at once.
	 */
	readonly leaseTtlMs?: number;
	/** Bytes the file may grow to; appends beyond reject with `disk_full`. Default: no limit. */
	readonly maxFileSize?: number;
	/** Time of sessions, inputs and leases, in milliseconds since the epoch. Default: the system's. */
	readonly clock?: { now(): number };
	/** Size limits of files stored with the sessions. Default: no limit. */
	readonly files?: FileLimits;
	/** Name of this worker; no other that lives may have it on this file. Default: a random one. */
	readonly workerId?: string;
}

/** A journal in a SQLite file. */
export interface SqliteJournal extends SqlJournal {
	readonly name: "sqlite";
	/** The file, as an absolute path. */
	readonly path: string;
}

/**
 * Opens the journal in a file, or makes it.
 * @throws HoldfastError `journal_foreign`, `journal_newer`, `journal_corrupt`, `journal_unavailable`; the file is left alone.
 */
export function sqliteJournal(options: SqliteJournalOptions): SqliteJournal {
	const {
		durability = "process",
		leaseTtlMs = 15_000,
		maxFileSize,
		clock = { now: () => Date.now() },
	} = options;
	checkOptions(options);
	const path = options.path === ":memory:" ? options.path : resolvePath(options.path);
	const workerId = options.workerId ?? globalThis.crypto.randomUUID();
	const database = openDatabase(
		{ path, durability, ...(maxFileSize === undefined ? {} : { maxFileSize }) },
		journalFile,
	);
	const journal = sqlJournal({
		name: "sqlite",
		connection: ownConnection(database),
		workerId,
		clock,
		files: options.files ?? {},
		register: (statements, holds) => registerWorker({ path, workerId, leaseTtlMs, clock, statements, holds }),
		check: sameFile(path),
		close: () => database.close(),
	});
	return Object.assign(journal, { name: "sqlite" as const, path });
}

const known = optionNames<SqliteJournalOptions>({
	path: true,
	durability: true,
	leaseTtlMs: true,
	maxFileSize: true,
	clock: true,
	files: true,
	workerId: true,
});

function checkOptions(options: SqliteJournalOptions): void {
	checkOptionNames(options, known, { of: "sqliteHost()" });
	const { path, durability = "process", leaseTtlMs = 15_000, maxFileSize = 1 } = options;
	if (typeof path !== "string") throw invalid("path", "the path of a file");
	if (path.startsWith("file:")) throw invalid("path", "a path, not an address");
	if (durability !== "process" && durability !== "power") throw invalid("durability", '"process" or "power"');
	readDuration("leaseTtlMs", leaseTtlMs, 0, { most: longestForeignWait });
	if (!(maxFileSize > 0)) throw invalid("maxFileSize", "a number of bytes above 0");
}

function invalid(option: string, expected: string): HoldfastError {
	return new HoldfastError(
		"invalid_option",
		`The option "${option}" of the SQLite journal should be ${expected}.`,
		{
			data: { option },
		},
	);
}
