// Opens a journal's file for maintenance: by tools that check, copy or shrink it while agents use it. They run SQL on the
// tables that docs/design.md describes; this module reads the columns.
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

/** The tables whose bodies have checksums. */
const firstWithChecksums = 8;

/** The used part of a `DatabaseSync` of node:sqlite. */
export interface JournalDatabase {
	exec(sql: string): void;
	prepare(sql: string): JournalStatement;
	close(): void;
	readonly isTransaction: boolean;
}

/** A statement of it. */
export interface JournalStatement {
	all(...parameters: (string | number | null)[]): unknown[];
	get(...parameters: (string | number | null)[]): unknown;
	run(...parameters: (string | number | null)[]): { readonly changes: number | bigint };
	iterate(...parameters: (string | number | null)[]): Iterable<unknown>;
}

/** The parts of a session's key. */
export interface JournalKey {
	/** The key, as `journal.list()` returns it. */
	readonly key: string;
	/** The key by which the agent's callers know the session. */
	readonly name: string;
	/** Key of the session to whose run a sub-agent's session belongs. */
	readonly parent?: string;
}

/** A journal's file, open. */
export interface JournalFile {
	readonly database: JournalDatabase;
	/** How many migrations its tables took. */
	readonly version: number;
	/** How many this release knows: a file with fewer is brought up to date when a journal opens it. */
	readonly latest: number;
	/** Whether a stored key belongs to a half-copied or half-removed session, which is unreachable. */
	isHidden(storedKey: string): boolean;
	/**
	 * Seq of the entry that represents all earlier ones in the session of that number, while rows of those remain
	 * unreachable; else 0.
	 */
	foldedAt(session: number): number;
	/** The original text of a stored column. */
	text(stored: string): string;
	/** Parses a session's key. */
	key(key: string): JournalKey;
	/** The fact of a row of `entries`. @throws HoldfastError `journal_newer`, `journal_corrupt`. */
	fact(kind: string, version: number, body: string): Fact;
	/**
	 * When an open run with this last fact is next due: the value of `look_at` in its session's row, in milliseconds
	 * since the epoch; null while it is in progress.
	 */
	lookAt(last: Fact): number | null;
	/** The value in a row of `records` or `session_values`. */
	value(stored: string): unknown;
	/**
	 * Call it before a session of that number is removed or made unreachable, within the transaction: it notifies
	 * followers of the file's changes, and makes data stored with the session unreachable.
	 */
	noteRemoval(session: number): void;
	/**
	 * The columns that a check compares with the checksum in `sum`: of the body, and of its identity. Empty in files
	 * without checksums.
	 */
	readonly summed: Readonly<
		Partial<Record<SummedTable, { readonly body: string; readonly about: readonly string[] }>>
	>;
	/** The checksum of a body; null if this version of Node has none. */
	sumOf(about: readonly (string | number)[], body: string | Uint8Array | null): number | null;
	/** Converts an error of the database. */
	error(error: unknown): HoldfastError;
}

/**
 * Opens the file of a journal while others use it; it has to exist. With `read` nothing is written to it.
 * @throws HoldfastError `journal_foreign`, `journal_newer`, `journal_corrupt`, `journal_unavailable`; the file is not
 * changed.
 */
export function openJournalFile(path: string, access: "read" | "write"): JournalFile {
	const { size } = statSync(path, { throwIfNoEntry: false }) ?? {};
	if (size === undefined) throw journalFile.unavailable(`there is no file ${path}`);
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
