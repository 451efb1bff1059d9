// Opens the file of a SQLite storage, or creates it, readable by this user only.
import { closeSync, openSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { HoldfastError, makeFolder } from "@holdfast/upp";
import { failed, unavailable } from "../storage/index.ts";

/** Identifies the files in their header: "hfme". */
const applicationId = 0x68666d65;
const version = 1;

/** Numbers are never reused, so that the newest record has the highest one. Word indexes keep no copy of the text. */
const schema = `
	CREATE TABLE records (
		seq INTEGER PRIMARY KEY AUTOINCREMENT,
		kind TEXT NOT NULL,
		space TEXT NOT NULL,
		name TEXT,
		at INTEGER NOT NULL,
		body TEXT NOT NULL,
		vector BLOB
	) STRICT;
	CREATE UNIQUE INDEX records_by_name ON records (kind, space, name) WHERE name IS NOT NULL;
	CREATE INDEX records_in_order ON records (kind, space, seq);
	CREATE VIRTUAL TABLE entry_words USING fts5 (words, content = '', contentless_delete = 1, tokenize = 'ascii');
	CREATE VIRTUAL TABLE value_words USING fts5 (words, content = '', contentless_delete = 1, tokenize = 'ascii');
	PRAGMA application_id = ${applicationId};
	PRAGMA user_version = ${version};
`;

const busy = 5;
const locked = 6;
const cannotOpen = 14;

/** SQLite's result code. */
function codeOf(error: unknown): number {
	return Number((error as { errcode?: number } | undefined)?.errcode ?? 0) & 255;
}

/** Whether another connection holds a lock. */
export function isBusy(error: unknown): boolean {
	return codeOf(error) === busy || codeOf(error) === locked;
}

/**
 * Opens the file as a database.
 * @throws HoldfastError `DB_UNAVAILABLE` if it cannot be opened or created; `DB_FAILED` if it is a different kind of
 * file.
 */
export function openFile(path: string): DatabaseSync {
	makeFile(path);
	const { DatabaseSync } = loadSqlite();
	let database: DatabaseSync | undefined;
	try {
		database = new DatabaseSync(path, { timeout: 0 });
		const marks = marksOf(database, path);
		if (marks === "new") {
			database.exec("PRAGMA journal_mode = WAL");
			makeTables(database, path);
		}
		// Deleted data is overwritten, so it cannot be read from the file either.
		database.exec(
			"PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON; PRAGMA journal_size_limit = 16777216",
		);
		return database;
	} catch (error) {
		database?.close();
		if (isBusy(error)) throw error;
		if (codeOf(error) === cannotOpen) throw unavailable(path, String(error), error);
		throw failed(path, error);
	}
}

function makeFile(path: string): void {
	try {
		makeFolder(dirname(path));
		closeSync(openSync(path, "wx", 0o600));
	} catch (cause) {
		if ((cause as { code?: string }).code !== "EEXIST") throw unavailable(path, String(cause), cause);
	}
}

function makeTables(database: DatabaseSync, path: string): void {
	database.exec("BEGIN IMMEDIATE");
	try {
		// Another process may have created it first.
		if (marksOf(database, path) === "new") database.exec(schema);
		database.exec("COMMIT");
	} catch (error) {
		database.exec("ROLLBACK");
		throw error;
	}
}

function marksOf(database: DatabaseSync, path: string): "new" | "known" {
	const number = (pragma: string): number =>
		Object.values(database.prepare(`PRAGMA ${pragma}`).get() as Record<string, number>)[0] ?? 0;
	const found = number("application_id");
	if (found === applicationId && number("user_version") <= version) return "known";
	const { tables } = database.prepare("SELECT count(*) AS tables FROM sqlite_schema").get() as {
		tables: number;
	};
	if (found === 0 && tables === 0) return "new";
	throw new HoldfastError(
		"DB_FAILED",
		found === applicationId
			? `${path} was written by a newer release. Use that release, or another file.`
			: `${path} is a SQLite file of another program. It was not changed; name another file.`,
	);
}

/** Suppresses Node's warning that it is experimental, which users cannot act on. */
function loadSqlite(): typeof import("node:sqlite") {
	const { emitWarning } = process;
	process.emitWarning = (warning: string | Error, ...rest: unknown[]): void => {
		if (String(warning).includes("SQLite is an experimental feature")) return;
		Reflect.apply(emitWarning, process, [warning, ...rest]);
	};
	try {
		return process.getBuiltinModule("node:sqlite");
	} finally {
		process.emitWarning = emitWarning;
	}
}
