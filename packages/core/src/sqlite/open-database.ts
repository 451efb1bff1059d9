// Opens or creates a Holdfast file. The file is read first: one that is foreign, damaged or from a newer release is
// recognised before anything is written to it or created next to it.
import { accessSync, closeSync, constants, existsSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { type HoldfastError, makeFolder } from "@holdfast/upp";
import { hasSqlite, loadSqlite } from "./load-sqlite.ts";
import { isBusy, isNotADatabase, isNotWritable } from "./sqlite-errors.ts";

/** The kind of a file: its header marks, tables and errors. */
export interface DatabaseKind {
	/** The number in the header of files of this kind. */
	readonly applicationId: number;
	/** Numbered migrations that create the tables. A released one never changes. */
	readonly migrations: readonly string[];
	/** Tables that are read once when a file is opened, because damage often shows only then. */
	readonly tables: readonly string[];
	/** What to use for data in memory only; the end of a sentence. */
	readonly instead: string;
	foreign(path: string, what: string): HoldfastError;
	newer(path: string, version: number, known: number): HoldfastError;
	unavailable(what: string, cause?: unknown): HoldfastError;
	damaged(path: string, what: string): HoldfastError;
	/** Converts an error of SQLite; HoldfastErrors are returned unchanged. */
	errorOf(error: unknown): HoldfastError;
}

/** Parameters of `openDatabase`. */
export interface DatabaseOptions {
	readonly path: string;
	readonly durability: "process" | "power";
	/** The maximum size of the file in bytes. */
	readonly maxFileSize?: number;
}

/** How long opening may block while another process creates or migrates the same file, in milliseconds. */
const patience = 3_000;

/**
 * Opens a database of a kind, and creates the file and its folders if they are missing.
 * @throws HoldfastError the kind's error for a file that is foreign, newer, damaged or unavailable.
 */
export function openDatabase(options: DatabaseOptions, kind: DatabaseKind): DatabaseSync {
	const { path } = options;
	if (path === "" || path === ":memory:") {
		throw kind.unavailable(`"${path}" does not name a file. Give a path, or ${kind.instead}`);
	}
	requireSqlite(kind);
	prepareFile(path, kind);
	inspect(path, kind);
	const { DatabaseSync } = loadSqlite();
	let database: DatabaseSync | undefined;
	try {
		const opened = new DatabaseSync(path, { timeout: patience });
		database = opened;
		patiently(() => migrate(opened, path, kind));
		patiently(() => opened.exec("PRAGMA journal_mode = WAL"));
		configure(opened, options);
		for (const table of kind.tables) opened.prepare(`SELECT * FROM ${table} LIMIT 1`).all();
		return opened;
	} catch (error) {
		database?.close();
		throw kind.errorOf(error);
	}
}

/**
 * Opens an existing database of a kind, for reading only.
 * @throws HoldfastError the errors of `openDatabase`.
 */
export function readDatabase(path: string, kind: DatabaseKind): DatabaseSync {
	requireSqlite(kind);
	inspect(path, kind);
	try {
		return readable(path);
	} catch (error) {
		// SQLite creates files next to the one it reads. Without permission for that, no other process can write either,
		// and none has it open, so it is read directly.
		if (!isNotWritable(error) || ["-wal", "-shm"].some((suffix) => existsSync(path + suffix)))
			throw kind.errorOf(error);
	}
	try {
		return readable(asImmutable(path));
	} catch (error) {
		throw kind.errorOf(error);
	}
}

/** Returns a connection after one successful read. */
function readable(path: string | URL): DatabaseSync {
	const { DatabaseSync } = loadSqlite();
	const database = new DatabaseSync(path, { readOnly: true, timeout: patience });
	try {
		userVersion(database);
		return database;
	} catch (error) {
		database.close();
		throw error;
	}
}

/** Returns the URL by which a file is read without locks and auxiliary files. */
function asImmutable(path: string): URL {
	const address = pathToFileURL(path);
	address.search = "immutable=1";
	return address;
}

function requireSqlite(kind: DatabaseKind): void {
	if (!hasSqlite())
		throw kind.unavailable(
			`Node ${process.versions.node} has no SQLite. Run it on Node 22.18 or newer, or ${kind.instead}`,
		);
}

function prepareFile(path: string, kind: DatabaseKind): void {
	try {
		// Conversations are private: only this user may read a new folder, a new file, and the files that SQLite adds.
		makeFolder(dirname(path));
		closeSync(openSync(path, "wx", 0o600));
	} catch (cause) {
		if ((cause as { code?: string }).code === "EEXIST" && isWritableFile(path)) return;
		const why = (cause as { code?: string }).code;
		const reason = why === "EEXIST" ? "this user cannot read and write it" : String(cause);
		throw kind.unavailable(`${path} cannot be opened: ${reason}`, cause);
	}
}

/**
 * Refuses foreign files, judging by the file alone. Uses an immutable connection, which takes no locks and creates no
 * files: opening and closing the file here directly would drop the locks of this process's connections.
 */
function inspect(path: string, kind: DatabaseKind): void {
	if (sizeOf(path) === 0) return;
	let found: Marks;
	try {
		found = readMarks(asImmutable(path));
	} catch (error) {
		if (isNotADatabase(error)) throw kind.foreign(path, "it is not a SQLite database");
		// After a crash, these files may contain data that the file needs to be complete; without them it is complete.
		if (["-wal", "-journal"].some((suffix) => sizeOf(path + suffix) > 0)) return;
		throw kind.errorOf(error);
	}
	if (found.applicationId !== kind.applicationId)
		throw kind.foreign(path, "it is a SQLite database of another program");
	checkVersion(path, found, kind);
	if (sizeOf(`${path}-wal`) === 0) return;
	// The newest marks may still be in the write-ahead log. A read-only connection changes nothing when it closes.
	let latest: Marks;
	try {
		latest = readMarks(path);
	} catch (error) {
		throw kind.errorOf(error);
	}
	checkVersion(path, latest, kind);
}

/** A file gets its version in the transaction that creates its tables; without one it is 0 or below. */
function checkVersion(path: string, { version }: Marks, kind: DatabaseKind): void {
	const known = kind.migrations.length;
	if (version > known) throw kind.newer(path, version, known);
	if (version < 1) throw kind.damaged(path, `has version ${version}, but versions start at 1`);
}

interface Marks {
	readonly applicationId: number;
	readonly version: number;
}

function readMarks(path: string | URL): Marks {
	const { DatabaseSync } = loadSqlite();
	const database = new DatabaseSync(path, { readOnly: true, timeout: patience });
	try {
		database.prepare("SELECT count(*) FROM sqlite_schema").get();
		const { application_id: id } = database.prepare("PRAGMA application_id").get() as {
			application_id: number;
		};
		return { applicationId: id, version: userVersion(database) };
	} finally {
		database.close();
	}
}

/** Applies the missing migrations, in one transaction. A second process then finds them applied. */
function migrate(database: DatabaseSync, path: string, kind: DatabaseKind): void {
	const { applicationId, migrations } = kind;
	const known = migrations.length;
	if (userVersion(database) === known) return;
	database.exec("BEGIN IMMEDIATE");
	try {
		const version = userVersion(database);
		if (version > known) throw kind.newer(path, version, known);
		for (const step of migrations.slice(version)) database.exec(step);
		database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${known}`);
		database.exec("COMMIT");
	} catch (error) {
		database.exec("ROLLBACK");
		throw error;
	}
}

function configure(database: DatabaseSync, options: DatabaseOptions): void {
	database.exec(`
		PRAGMA synchronous = ${options.durability === "power" ? "FULL" : "NORMAL"};
		PRAGMA secure_delete = ON;
		PRAGMA journal_size_limit = 16777216;
		PRAGMA wal_autocheckpoint = 4000;
		PRAGMA busy_timeout = 0;
	`);
	if (options.maxFileSize !== undefined) {
		const { page_size: pageSize } = database.prepare("PRAGMA page_size").get() as { page_size: number };
		database.exec(`PRAGMA max_page_count = ${Math.max(1, Math.floor(options.maxFileSize / pageSize))}`);
	}
}

function userVersion(database: DatabaseSync): number {
	return (database.prepare("PRAGMA user_version").get() as { user_version: number }).user_version;
}

/** Some locks are refused without waiting. Opening happens once and may wait. */
function patiently<T>(attempt: () => T): T {
	const end = performance.now() + patience;
	for (;;) {
		try {
			return attempt();
		} catch (error) {
			if (!isBusy(error) || performance.now() > end) throw error;
			Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
		}
	}
}

/** Without write permission, SQLite would open the file for reading, and fail much later. */
function isWritableFile(path: string): boolean {
	try {
		accessSync(path, constants.R_OK | constants.W_OK);
		return statSync(path).isFile();
	} catch {
		return false;
	}
}

function sizeOf(path: string): number {
	return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
