// Runs one statement on an open SQLite database, in this thread. It checks the statement again with SQLite's own parser.
import type { DatabaseSync, SQLOutputValue } from "node:sqlite";
import type { SqlRows, SqlStatement, SqlValue } from "./sql-driver.ts";

/** Why a statement was not executed, in a form that can be sent to another process. */
export interface SqliteFailure {
	readonly code: "SQL_REFUSED" | "SQL_READONLY" | "SQL_FAILED";
	readonly message: string;
	/** Another connection has locked the database. */
	readonly isBusy?: true;
}

type Outcome =
	| { readonly ok: true; readonly rows: SqlRows }
	| { readonly ok: false; readonly failure: SqliteFailure };

const readOnlyDatabase = 8;
const busy: ReadonlySet<number> = new Set([5, 6]);

export function querySqlite(database: DatabaseSync, statement: SqlStatement): Outcome {
	const { sql, params, readOnly, maxRows, maxCharacters } = statement;
	const before = readOnly ? pragma(database) : undefined;
	try {
		if (readOnly) database.exec("PRAGMA query_only = ON");
		const prepared = database.prepare(sql);
		const rest = sql.slice(prepared.sourceSQL.length);
		if (!sql.startsWith(prepared.sourceSQL) || /[^\s;]/.test(withoutComments(rest)))
			return failure("SQL_REFUSED", "The SQL was refused: it contains several statements.");
		prepared.setReadBigInts(true);
		const values = params.map(bound);
		if (prepared.columns().length === 0) {
			const { changes } = prepared.run(...values);
			return { ok: true, rows: { rows: [], changes: Number(changes) } };
		}
		const rows: Readonly<Record<string, unknown>>[] = [];
		let [characters, isCut] = [0, false];
		for (const row of prepared.iterate(...values)) {
			isCut ||= rows.length >= maxRows || Object.values(row).some((value) => lengthOf(value) > maxCharacters);
			const plain = isCut
				? {}
				: Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plainOf(value)]));
			characters += JSON.stringify(plain).length;
			isCut ||= characters > maxCharacters;
			if (!isCut) rows.push(plain);
			// A statement that writes and returns rows runs to completion.
			else if (readOnly) break;
		}
		return { ok: true, rows: { rows, ...(isCut ? { truncated: true } : {}) } };
	} catch (error) {
		return failureOf(error as Error & { errcode?: number });
	} finally {
		if (before === 0) database.exec("PRAGMA query_only = OFF");
	}
}

function pragma(database: DatabaseSync): unknown {
	return Object.values(database.prepare("PRAGMA query_only").get() ?? {})[0];
}

/** After the single statement, the rest of the text may only contain comments. */
function withoutComments(text: string): string {
	return text.replaceAll(/--[^\n]*|\/\*[\s\S]*?\*\//g, "");
}

/** Checked before a value of a gigabyte is converted to a string. */
function lengthOf(value: SQLOutputValue): number {
	return typeof value === "string" || value instanceof Uint8Array ? value.length : 0;
}

function bound(value: SqlValue): null | number | bigint | string {
	if (typeof value === "boolean") return value ? 1n : 0n;
	return Number.isSafeInteger(value) ? BigInt(value as number) : value;
}

function plainOf(value: SQLOutputValue): unknown {
	if (value instanceof Uint8Array) return { base64: Buffer.from(value).toString("base64") };
	if (typeof value !== "bigint") return value;
	return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
}

function failure(code: SqliteFailure["code"], message: string): Outcome {
	return { ok: false, failure: { code, message } };
}

function failureOf({ message, errcode = 0 }: Error & { errcode?: number }): Outcome {
	// The low byte of an extended code is the code.
	const primary = errcode & 0xff;
	if (primary === readOnlyDatabase)
		return failure("SQL_READONLY", "The statement writes, but the agent may only read.");
	const failed = { code: "SQL_FAILED", message: `The statement failed: ${message}.` } as const;
	return { ok: false, failure: busy.has(primary) ? { ...failed, isBusy: true } : failed };
}
