// Fills an empty store from a dump, in one transaction: completely or not at all.
import { checkOptions, HoldfastError, optionNames } from "@holdfast/upp";
import {
	type DumpBatch,
	differsIn,
	dumpTables,
	type StoreDump,
	StoreScale,
	type StoreSize,
} from "holdfast/host";
import { openDatabase } from "../database.ts";
import { migrate } from "../migrate.ts";
import { type PostgresHostOptions, resolveOptions } from "../options.ts";
import { tablesOfDump } from "./dump-tables.ts";
import { inOneTransaction, type UpkeepTransaction } from "./upkeep-connection.ts";

const writeStoreNames = optionNames<WriteStoreOptions>({ onProgress: "function" });

/** Options for filling a store. */
export interface WriteStoreOptions {
	/** Called after each batch with the size written so far. */
	readonly onProgress?: (size: StoreSize) => void;
}

/**
 * Fills an empty store, and creates missing tables. The written rows are counted before the commit; until then they are
 * invisible, and a process that dies leaves the store empty.
 * @throws HoldfastError `store_not_empty`; `journal_foreign`, `journal_newer`, `db_unavailable` and the like; the errors
 * of the dump.
 */
export async function writeStore(
	options: PostgresHostOptions,
	dump: StoreDump,
	more: WriteStoreOptions = {},
): Promise<StoreSize> {
	checkOptions(more, writeStoreNames, { of: "writeStore()" });
	const { onProgress } = more;
	const resolved = resolveOptions(options);
	const { schema } = resolved;
	const database = openDatabase(resolved);
	try {
		await migrate(database, schema);
	} finally {
		await database.close();
	}
	return inOneTransaction(resolved, "whole", async (transaction) => {
		// Locks out writers until it is complete.
		await transaction.query(
			`LOCK TABLE ${schema}.slots, ${schema}.sessions, ${schema}.files IN EXCLUSIVE MODE`,
		);
		await refuseFilled(transaction, schema);
		const scale = new StoreScale();
		for await (const batch of dump.rows()) {
			await write(transaction, schema, batch);
			scale.add(batch);
			onProgress?.(scale.size);
		}
		await finish(transaction, schema, dump);
		const written = await sizeOf(transaction, schema);
		const wrong = differsIn(scale.size, written);
		if (wrong !== undefined) {
			const [gave, has] = [scale.size[wrong], written[wrong]];
			throw new HoldfastError(
				"journal_failed",
				`The written copy differs from the source: ${wrong} has ${has.rows} rows of ${has.bytes} bytes, and should have ${gave.rows} of ${gave.bytes}. Nothing was kept.`,
			);
		}
		return written;
	});
}

async function refuseFilled({ query }: UpkeepTransaction, schema: string): Promise<void> {
	const [found] = await query<{ sessions: number; records: number }>(
		`SELECT (SELECT count(*) FROM ${schema}.sessions) AS sessions, (SELECT count(*) FROM ${schema}.records) AS records`,
	);
	const { sessions = 0, records = 0 } = found ?? {};
	if (sessions === 0 && records === 0) return;
	throw new HoldfastError(
		"store_not_empty",
		`The schema "${schema}" already has ${sessions} sessions and ${records} records. The target store must be empty; nothing was changed.`,
		{ data: { schema, sessions, records } },
	);
}

async function write({ query }: UpkeepTransaction, schema: string, batch: DumpBatch): Promise<void> {
	const { table, columns } = tablesOfDump[batch.table];
	const names = columns.map(({ name }) => name).join();
	const places = columns.map(({ type }, at) => `$${at + 1}::${type}[]`).join();
	const values = columns.map(({ of }) => batch.rows.map((row) => of(row as never)));
	await query(
		`INSERT INTO ${schema}.${table} (${names}) OVERRIDING SYSTEM VALUE SELECT * FROM unnest(${places})`,
		values,
	);
}

/** Sets the store's counters above all written values. */
async function finish(
	{ query }: UpkeepTransaction,
	schema: string,
	{ highestDeletedEpoch }: StoreDump,
): Promise<void> {
	for (const table of ["sessions", "files"])
		await query(
			`SELECT setval(pg_get_serial_sequence('${schema}.${table}', 'id'), greatest(max(id), 1)) FROM ${schema}.${table}`,
		);
	await query(`SELECT setval('${schema}.revisions', greatest(max(revision), 1)) FROM ${schema}.records`);
	await query(`UPDATE ${schema}.meta SET value = greatest(value, $1) WHERE name = 'highest_deleted_epoch'`, [
		highestDeletedEpoch,
	]);
	await query(
		`UPDATE ${schema}.meta SET value = greatest(value, (SELECT max(changed) FROM ${schema}.sessions)) WHERE name = 'position_base'`,
	);
}

async function sizeOf({ query }: UpkeepTransaction, schema: string): Promise<StoreSize> {
	const sizes: [string, { rows: number; bytes: number }][] = [];
	for (const name of dumpTables) {
		const { table, body } = tablesOfDump[name];
		const bytes =
			body === undefined ? "0" : body === "bytes" ? "length(bytes)" : `length(convert_to(${body}, 'UTF8'))`;
		const [size] = await query<{ rows: number; bytes: number }>(
			`SELECT count(*) AS rows, coalesce(sum(${bytes}), 0)::bigint AS bytes FROM ${schema}.${table}`,
		);
		sizes.push([name, size ?? { rows: 0, bytes: 0 }]);
	}
	return Object.fromEntries(sizes) as unknown as StoreSize;
}
