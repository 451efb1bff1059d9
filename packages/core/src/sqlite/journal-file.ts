// Opens a journal's file for maintenance, by tools that check, copy or shrink it while agents use it. The tools run SQL
// on the tables described in docs/design.md; this module decodes the columns.
import { statSync } from "node:fs";
import { decodeValue, type HoldfastError, type JSONValue } from "@holdfast/upp";
import type { Fact } from "../facts/index.ts";
import { decodeFact, lookAt } from "../facts/index.ts";
import { readChildStoreKey, readStoreKey } from "../host/index.ts";
import { checksumOf, type SummedTable, summed } from "./checksums.ts";
import { isHidden } from "./hidden-sessions.ts";
import { nodeChecksum, nodeConnection } from "./node-connection.ts";
import { openDatabase, readDatabase } from "./open-database.ts";
import { journalFile } from "./schema.ts";
import { forgetSession } from "./session-writes.ts";
import { foldedAt, prepareStatements, type Statements } from "./statements.ts";
import { fromStored } from "./stored-text.ts";

/** The first version whose tables have checksums. */
const firstWithChecksums = 8;

/** The part of node:sqlite's `DatabaseSync` that is used here. */
export interface JournalDatabase {
	/** Runs statements without parameters. */
	exec(sql: string): void;
	/** Prepares a statement. */
	prepare(sql: string): JournalStatement;
	/** Closes the file. */
	close(): void;
	/** Whether a transaction is open. */
	readonly isTransaction: boolean;
}

/** A prepared statement. */
export interface JournalStatement {
	/** Returns the rows. */
	all(...parameters: (string | number | null)[]): unknown[];
	/** Returns the first row, or undefined. */
	get(...parameters: (string | number | null)[]): unknown;
	/** Runs a statement that returns no rows. */
	run(...parameters: (string | number | null)[]): { readonly changes: number | bigint };
	/** Yields rows one by one. */
	iterate(...parameters: (string | number | null)[]): Iterable<unknown>;
}

/** The parts of a session's key. */
export interface JournalKey {
	/** The key, as returned by `journal.list()`. */
	readonly key: string;
	/** The key that the agent's callers use for the session. */
	readonly name: string;
	/** For a sub-agent's session: the key of the session whose run it belongs to. */
	readonly parent?: string;
}

/** An open journal file. */
export interface JournalFile {
	/** The connection to the file. */
	readonly database: JournalDatabase;
	/** How many migrations were applied to its tables. */
	readonly version: number;
	/** How many migrations this release has. A file with fewer is migrated when a journal opens it. */
	readonly latest: number;
	/** Whether a stored key belongs to a partially copied or removed session, which is unreachable. */
	isHidden(storedKey: string): boolean;
	/**
	 * Returns the seq of the entry that replaces all earlier ones in the session with that number, while unreachable rows
	 * of those remain; otherwise 0.
	 */
	foldedAt(session: number): number;
	/** Decodes the text of a stored column. */
	text(stored: string): string;
	/** Parses a session's key. */
	key(key: string): JournalKey;
	/** Decodes the fact of a row of `entries`. @throws HoldfastError `journal_newer`, `journal_corrupt`. */
	fact(kind: string, version: number, body: string): Fact;
	/**
	 * Returns when an open run with this last fact is next due: the value of `look_at` in its session's row, in
	 * milliseconds since the epoch; null while it is in progress.
	 */
	lookAt(last: Fact): number | null;
	/** Decodes the value in a row of `records` or `session_values`. */
	value(stored: string): unknown;
	/**
	 * Call it within the transaction, before the session with that number is removed or made unreachable: it notifies
	 * followers of the file's changes, and makes data stored with the session unreachable.
	 */
	noteRemoval(session: number): void;
	/**
	 * The columns covered by the checksum in `sum`: those of the body, and those of its identity. Empty in files without
	 * checksums.
	 */
	readonly summed: Readonly<
		Partial<Record<SummedTable, { readonly body: string; readonly about: readonly string[] }>>
	>;
	/** Returns the checksum of a body; null if this version of Node cannot compute it. */
	sumOf(about: readonly (string | number)[], body: string | Uint8Array | null): number | null;
	/** Converts an error of the database. */
	error(error: unknown): HoldfastError;
}

/**
 * Opens an existing journal file while others use it. With `read`, nothing is written to it.
 * @throws HoldfastError `journal_foreign`, `journal_newer`, `journal_corrupt`, `journal_unavailable`; the file is not
 * changed.
 */
export function openJournalFile(path: string, access: "read" | "write"): JournalFile {
	const { size } = statSync(path, { throwIfNoEntry: false }) ?? {};
	if (size === undefined) throw journalFile.unavailable(`the file ${path} does not exist`);
	if (size === 0) throw journalFile.foreign(path, "it is empty");
	const database =
		access === "read"
			? readDatabase(path, journalFile)
			: openDatabase({ path, durability: "process" }, journalFile);
	const { user_version: version } = database.prepare("PRAGMA user_version").get() as { user_version: number };
	let statements: Statements | undefined;
	const folded = database.prepare(`SELECT ${foldedAt("?")} AS seq`);
	return {
		database: database as JournalDatabase,
		version,
		latest: journalFile.migrations.length,
		isHidden,
		foldedAt: (session) => (folded.get(session) as { seq: number }).seq,
		text: fromStored,
		key(key) {
			const child = readChildStoreKey(key);
			return {
				key,
				name: readStoreKey(key).key,
				...(child === undefined ? {} : { parent: child.parentStoreKey }),
			};
		},
		fact: (kind, factVersion, body) => decodeFact(kind, factVersion, body),
		lookAt: (last) => lookAt([last], null),
		value: (stored) => decodeValue(JSON.parse(stored) as JSONValue),
		noteRemoval(session) {
			statements ??= prepareStatements(nodeConnection(database));
			forgetSession(statements, session);
		},
		summed: version >= firstWithChecksums ? summed : {},
		sumOf: (about, body) => checksumOf(nodeChecksum, about, body),
		error: journalFile.errorOf,
	};
}
