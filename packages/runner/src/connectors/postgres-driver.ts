// Postgres for the SQL connector. Every statement uses the extended protocol, which carries exactly one statement. A
// query becomes a cursor inside a read-only transaction, so Postgres's own parser rejects everything else.
import { checkOptions, HoldfastError, isHoldfastError, optionNames } from "@holdfast/upp";
import { configInvalid } from "./connector.ts";
import { sqlReadOnly } from "./sql-connector.ts";
import type { SqlDriver, SqlRows, SqlStatement } from "./sql-driver.ts";

const postgresDriverNames = optionNames<PostgresDriverOptions>({ pool: "object" });

/** A query in the form that `pg` accepts. */
export interface PostgresQuery {
	/** The statement. */
	readonly text: string;
	/** The values of its placeholders. */
	readonly values?: unknown[];
	/** `extended` since pg 8.12. */
	readonly queryMode?: string;
	/** The parsers of column values. */
	readonly types?: { getTypeParser(oid: number): (value: string) => unknown };
}

/** A connection of the pool, from `pg`. */
export interface PostgresConnection {
	/** Runs one query. */
	query(query: PostgresQuery): Promise<{
		readonly rows: readonly Readonly<Record<string, unknown>>[];
		readonly rowCount: number | null;
		readonly fields: readonly unknown[];
	}>;
	/** `true` closes the connection. */
	release(destroy?: boolean): void;
}

/** Options of `postgresDriver()`. */
export interface PostgresDriverOptions {
	/** A `Pool` of `pg` 8.12 or later. You close it. Its role should have only the rights that the agent needs. */
	readonly pool: { connect(): Promise<PostgresConnection> };
}

const rowsAtOnce = 100;
/** Milliseconds after the signal at which the server itself ends a statement. */
const graceMs = 1_000;
const [readOnlyTransaction, syntaxError] = ["25006", "42601"];

/**
 * Returns the Postgres driver for `sqlConnector()`.
 *
 * Values keep the form that Postgres writes; `int8` beyond the range of a number, `numeric` and dates are strings.
 * @throws HoldfastError `CONFIG_INVALID`. A pool that does not use the extended protocol is refused at its first
 * statement.
 * @example
 * ```ts no-run
 * import { postgresDriver, sqlConnector } from "@holdfast/runner/connectors";
 * import pg from "pg";
 *
 * const pool = new pg.Pool({ connectionString: "postgres://reader@localhost/orders" });
 * export const orders = sqlConnector({ driver: postgresDriver({ pool }) });
 * ```
 */
export function postgresDriver(options: PostgresDriverOptions): SqlDriver {
	checkOptions(options, postgresDriverNames, { of: "postgresDriver()" });
	const { pool } = options;
	if (typeof pool?.connect !== "function") throw configInvalid("`pool` is not a pool of `pg`");
	let isExtended = false;
	const carryOut = async (connection: PostgresConnection, statement: SqlStatement): Promise<SqlRows> => {
		if (!isExtended) await checkExtended(connection);
		isExtended = true;
		return statement.readOnly ? read(connection, statement) : write(connection, statement);
	};
	return {
		async query(statement, signal) {
			const connection = await connected(pool, signal);
			const settled = Promise.withResolvers<never>();
			const onAbort = (): void => settled.reject(signal.reason);
			signal.addEventListener("abort", onAbort);
			// A connection that wrote, failed or was abandoned keeps settings of the statement, so it is not reused.
			let isClean = false;
			try {
				const rows = await Promise.race([carryOut(connection, statement), settled.promise]);
				isClean = statement.readOnly;
				return rows;
			} catch (error) {
				throw signal.aborted ? signal.reason : errorOf(error);
			} finally {
				signal.removeEventListener("abort", onAbort);
				connection.release(!isClean);
			}
		},
	};
}

/** Waits for a connection until the signal fires; one that arrives later is released at once. */
async function connected(
	pool: PostgresDriverOptions["pool"],
	signal: AbortSignal,
): Promise<PostgresConnection> {
	signal.throwIfAborted();
	const connecting = pool.connect();
	const aborted = Promise.withResolvers<never>();
	const onAbort = (): void => {
		aborted.reject(signal.reason);
		void connecting.then((connection) => connection.release()).catch(() => {});
	};
	signal.addEventListener("abort", onAbort);
	try {
		return await Promise.race([connecting, aborted.promise]);
	} finally {
		signal.removeEventListener("abort", onAbort);
	}
}

/** The extended protocol refuses two statements in one text; a pool that accepts them is not one of `pg`. */
async function checkExtended(connection: PostgresConnection): Promise<void> {
	try {
		await connection.query(extended("SELECT 1; SELECT 2"));
	} catch (error) {
		if ((error as { readonly code?: string }).code === syntaxError) return;
		throw error;
	}
	throw configInvalid("the pool sends several statements at once; give a `Pool` of `pg`");
}

async function read(connection: PostgresConnection, statement: SqlStatement): Promise<SqlRows> {
	const { maxRows, maxCharacters, timeoutMs } = statement;
	await connection.query({
		text: `BEGIN READ ONLY; SET LOCAL statement_timeout = ${timeoutMs + graceMs}; SET LOCAL cursor_tuple_fraction = 1`,
	});
	await connection.query(
		extended(`DECLARE holdfast NO SCROLL CURSOR FOR ${numbered(statement)}`, statement.params),
	);
	const rows: Readonly<Record<string, unknown>>[] = [];
	let [characters, isCut, isEnd] = [0, false, false];
	while (!isCut && !isEnd) {
		const wanted = Math.min(rowsAtOnce, maxRows + 1 - rows.length);
		const { rows: some } = await connection.query(extended(`FETCH ${wanted} FROM holdfast`));
		isEnd = some.length < wanted;
		for (const row of some) {
			characters += JSON.stringify(row).length;
			isCut ||= rows.length >= maxRows || characters > maxCharacters;
			if (!isCut) rows.push(row);
		}
	}
	// Settings of the statement end with the transaction, but session locks do not.
	await connection.query({ text: "ROLLBACK; SELECT pg_advisory_unlock_all()" });
	return { rows, ...(isCut ? { truncated: true } : {}) };
}

async function write(connection: PostgresConnection, statement: SqlStatement): Promise<SqlRows> {
	const { maxRows, maxCharacters, timeoutMs } = statement;
	await connection.query({ text: `BEGIN READ WRITE; SET LOCAL statement_timeout = ${timeoutMs + graceMs}` });
	const {
		rows: all,
		rowCount,
		fields,
	} = await connection.query(extended(numbered(statement), statement.params));
	await connection.query({ text: "COMMIT" });
	if (fields.length === 0) return { rows: [], changes: rowCount ?? 0 };
	let characters = 0;
	const rows = all.filter((row, index) => {
		characters += JSON.stringify(row).length;
		return index < maxRows && characters <= maxCharacters;
	});
	return { rows, ...(rows.length < all.length ? { truncated: true } : {}) };
}

function extended(text: string, params: SqlStatement["params"] = []): PostgresQuery {
	return { text, values: [...params], queryMode: "extended", types };
}

/** Returns the text with `$1` and so on for each `?`. */
function numbered({ sql, placeholders }: SqlStatement): string {
	const pieces: string[] = [];
	let at = 0;
	for (const [index, placeholder] of placeholders.entries()) {
		pieces.push(sql.slice(at, placeholder), ` $${index + 1} `);
		at = placeholder + 1;
	}
	return [...pieces, sql.slice(at)].join("");
}

const parsers: Readonly<Record<number, (value: string) => unknown>> = {
	16: (value) => value === "t",
	17: (value) => ({ base64: Buffer.from(value.slice(2), "hex").toString("base64") }),
	20: (value) => (Number.isSafeInteger(Number(value)) ? Number(value) : value),
	21: Number,
	23: Number,
	26: Number,
	114: (value) => JSON.parse(value),
	700: fraction,
	701: fraction,
	3802: (value) => JSON.parse(value),
};
const types = { getTypeParser: (oid: number) => parsers[oid] ?? ((value: string) => value) };

/** JSON cannot represent `NaN` and infinity. */
function fraction(value: string): number | string {
	return Number.isFinite(Number(value)) ? Number(value) : value;
}

function errorOf(error: unknown): unknown {
	if (isHoldfastError(error)) return error;
	const { code, message } = error as { readonly code?: string; readonly message: string };
	if (code === readOnlyTransaction) return sqlReadOnly();
	const retryable = code !== undefined && /^(?:08|40|53|57P)/.test(code);
	return new HoldfastError("SQL_FAILED", `The statement failed: ${message}.`, { retryable, cause: error });
}
