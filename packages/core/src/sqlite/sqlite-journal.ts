// The journal in a SQLite file (keeps I2, I3, I4). Several processes may share the file, each with its own worker.
import { resolve as resolvePath } from "node:path";
import { checkOptions, HoldfastError, longestForeignWait, optionNames, readDuration } from "@holdfast/upp";
import type { FileLimits } from "../host/index.ts";
import { ownConnection } from "./node-connection.ts";
import { openDatabase } from "./open-database.ts";
import { sameFile } from "./same-file.ts";
import { journalFile } from "./schema.ts";
import { type SqlJournal, sqlJournal } from "./sql-journal.ts";
import { registerWorker } from "./worker-row.ts";

/** Options of `sqliteJournal`. */
export interface SqliteJournalOptions {
	/** The file. It and its folders are created if they are missing; the file is readable only by its user. */
	readonly path: string;
	/**
	 * The failures that a commit survives. `process` (default): the death of the process at any moment. `power`: also a
	 * power failure, at the cost of a disk flush per shared commit.
	 */
	readonly durability?: "process" | "power";
	/**
	 * Milliseconds after which a worker counts as dead if its process is not visible or hangs. Default 15,000. With a
	 * lower value, a hung worker's sessions continue earlier; with a higher one, there are fewer writes. Dead processes
	 * are detected immediately.
	 */
	readonly leaseTtlMs?: number;
	/** The maximum size of the file in bytes; appends beyond it reject with `disk_full`. Default: no limit. */
	readonly maxFileSize?: number;
	/** The clock for sessions, inputs and leases, in milliseconds since the epoch. Default: the system's. */
	readonly clock?: { now(): number };
	/** Size limits of files stored with the sessions. Default: no limit. */
	readonly files?: FileLimits;
	/** Name of this worker, unique among the live workers of the file. Default: a random one. */
	readonly workerId?: string;
}

/** A journal in a SQLite file. */
export interface SqliteJournal extends SqlJournal {
	readonly name: "sqlite";
	/** The file, as an absolute path. */
	readonly path: string;
}

/**
 * Opens the journal in a file, or creates it.
 * @throws HoldfastError `journal_foreign`, `journal_newer`, `journal_corrupt`, `journal_unavailable`; the file is not
 * changed.
 */
export function sqliteJournal(options: SqliteJournalOptions): SqliteJournal {
	const {
		durability = "process",
		leaseTtlMs = 15_000,
		maxFileSize,
		clock = { now: () => Date.now() },
	} = options;
	checkJournalOptions(options);
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
	clock: "object",
	files: "object",
	workerId: "text",
});

function checkJournalOptions(options: SqliteJournalOptions): void {
	checkOptions(options, known, { of: "sqliteHost()" });
	const { path, durability = "process", leaseTtlMs = 15_000, maxFileSize = 1 } = options;
	if (typeof path !== "string") throw invalid("path", "the path of a file");
	if (/^(?:file:|[a-z][a-z\d+.-]+:\/\/)/i.test(path)) throw invalid("path", "a path, not an address");
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
