// Reads a whole store as a dump: a consistent snapshot, read by cursors in bounded memory.
import { HoldfastError } from "@holdfast/upp";
import { type DumpBatch, dumpTables, fromStored, type StoreDump } from "holdfast/host";
import { openDatabase } from "../database.ts";
import { lockSpace, migrate } from "../migrate.ts";
import { type PostgresHostOptions, type Resolved, resolveOptions } from "../options.ts";
import { tablesOfDump } from "./dump-tables.ts";
import { inOneTransaction, type UpkeepTransaction } from "./upkeep-connection.ts";

/** Tables whose locks prevent all writes: every batch of writes has a row of `slots`. */
const written = ["slots", "sessions", "timers", "files", "file_pieces", "workers"];

/**
 * Reads a snapshot of a store while others use it.
 * @throws HoldfastError `journal_foreign`, `journal_newer`, `db_unavailable` and the like; the errors of `use`.
 */
export async function readStore<T>(
	options: PostgresHostOptions,
	use: (dump: StoreDump) => Promise<T>,
): Promise<T> {
	const resolved = resolveOptions(options);
	await prepare(resolved);
	return inOneTransaction(resolved, "snapshot", async (transaction) =>
		use(await dumpOf(transaction, resolved.schema)),
	);
}

/**
 * Reads an unused store while writes are blocked. When `use` has finished, the schema is renamed, so that no process uses
 * the moved store; the new name is returned. If it fails, nothing changes.
 * @throws HoldfastError `store_in_use` if one of its workers is alive; the errors of `readStore`.
 */
export async function moveOut(
	options: PostgresHostOptions,
	use: (dump: StoreDump) => Promise<void>,
): Promise<{ readonly schema: string }> {
	const resolved = resolveOptions(options);
	const { schema } = resolved;
	await prepare(resolved);
	return inOneTransaction(resolved, "whole", async (transaction) => {
		const tables = written.map((table) => `${schema}.${table}`).join();
		await transaction.query(`LOCK TABLE ${tables} IN EXCLUSIVE MODE`);
		await refuseLiving(transaction, schema);
		await use(await dumpOf(transaction, schema));
		const stamp = new Date().toISOString().replace(/\D/g, "").slice(0, 14);
		const name = `${schema.slice(0, 27)}_moved_${stamp}`;
		await transaction.query(`ALTER SCHEMA ${schema} RENAME TO ${name}`);
		return { schema: name };
	});
}

async function prepare(resolved: Resolved): Promise<void> {
	const database = openDatabase(resolved);
	try {
		await migrate(database, resolved.schema);
	} finally {
		await database.close();
	}
}

async function refuseLiving({ query }: UpkeepTransaction, schema: string): Promise<void> {
	const living = await query<{ name: string }>(
		`SELECT name FROM ${schema}.workers w WHERE ${schema}.lives_v1(w, ${lockSpace(schema)}) ORDER BY name LIMIT 5`,
	);
	if (living.length === 0) return;
	const workers = living.map(({ name }) => fromStored(name));
	throw new HoldfastError(
		"store_in_use",
		`The store is in use by ${workers.join(", ")}. Stop the workers and servers that use it first; nothing was changed.`,
		{ retryable: true, data: { workers } },
	);
}

async function dumpOf(transaction: UpkeepTransaction, schema: string): Promise<StoreDump> {
	const [meta] = await transaction.query<{ value: number }>(
		`SELECT value FROM ${schema}.meta WHERE name = 'highest_deleted_epoch'`,
	);
	return { highestDeletedEpoch: meta?.value ?? 0, rows: () => rowsOf(transaction, schema) };
}

async function* rowsOf({ query }: UpkeepTransaction, schema: string): AsyncGenerator<DumpBatch> {
	for (const table of dumpTables) {
		const { read, atOnce } = tablesOfDump[table];
		await query(`DECLARE store_rows NO SCROLL CURSOR FOR ${read(schema)}`);
		for (;;) {
			const rows = await query<never>(`FETCH ${atOnce} FROM store_rows`);
			if (rows.length > 0) yield { table, rows };
			if (rows.length < atOnce) break;
		}
		await query("CLOSE store_rows");
	}
}
