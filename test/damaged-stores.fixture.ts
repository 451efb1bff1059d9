// Stores whose rows a test can damage, as a failing disk would: in memory, in SQLite and in Postgres.
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { postgresHost } from "@holdfast/postgres";
import type { PostgresServer } from "@holdfast/testing/postgres-server";
import { HoldfastError, type Host, memoryHost } from "holdfast";
import { sqliteHost } from "holdfast/sqlite";
import pg from "pg";
import { temporaryFolder } from "./shared/temporary-folder.fixture.ts";

/** A row: of a session, by a pattern of its key, or a record. */
export type Row =
	| { readonly kind: "entry"; readonly key: RegExp; readonly seq: number }
	| { readonly kind: "value"; readonly key: RegExp; readonly name: string }
	| { readonly kind: "record"; readonly shelf: string; readonly name: RegExp };

/** A store, which each server opens again. */
export interface DamagedStore {
	open(): Host;
	damage(rows: readonly Row[]): Promise<void>;
	close(): Promise<void>;
}

const damaged = (): never => {
	throw new HoldfastError("journal_corrupt", "The journal is damaged: a row cannot be read.");
};

/** Memory does not fail by itself, so reads of damaged rows are refused. */
export function damagedMemory(): DamagedStore {
	const host = memoryHost();
	const rows: Row[] = [];
	const { journal, values, records } = host;
	if (records === undefined) throw new Error("The host has no records.");
	const isBad = (kind: Row["kind"], at: string, name: string | number): boolean =>
		rows.some((row) => {
			if (row.kind !== kind) return false;
			if (row.kind === "record") return row.shelf === at && row.name.test(String(name));
			return row.key.test(at) && (row.kind === "entry" ? row.seq : row.name) === name;
		});
	const read = journal.read.bind(journal);
	journal.read = async (key, options) => {
		const found = await read(key, options);
		return found.some(({ seq }) => isBad("entry", key, seq)) ? damaged() : found;
	};
	const lent: Host = {
		...host,
		values: {
			deleteSession: (key) => values.deleteSession(key),
			values(key, owner) {
				const of = values.values(key, owner);
				return {
					get: async (name) => (isBad("value", key, name) ? damaged() : of.get(name)),
					set: async (name, value) => of.set(name, value),
					delete: async (name) => of.delete(name),
					list: async () => {
						const found = await of.list();
						return found.map(({ name, value }) => ({
							name,
							get value() {
								return isBad("value", key, name) ? damaged() : value;
							},
						}));
					},
				};
			},
		},
		records: {
			// As in the other stores, the value is decoded on access.
			get: async (address) => {
				const found = await records.get(address);
				if (found.revision === 0 || !isBad("record", address.shelf, address.name)) return found;
				return {
					revision: found.revision,
					get value() {
						return damaged();
					},
				};
			},
			list: (shelf, options) => records.list(shelf, options),
			commit: (expected, writes) => records.commit(expected, writes),
		},
		close: async () => {},
	};
	return {
		open: () => lent,
		damage: async (more) => void rows.push(...more),
		close: async () => host.close(),
	};
}

type Run = (sql: string, ...values: readonly (string | number)[]) => Promise<readonly Found[]>;
interface Found {
	readonly id: number;
	readonly text: string;
}

/** Damages rows of a database; `schema` precedes the names of tables. */
async function damageRows(run: Run, schema: string, rows: readonly Row[]): Promise<void> {
	const sessions = await run(`SELECT id, key AS text FROM ${schema}sessions`);
	for (const row of rows) {
		const found =
			row.kind === "record"
				? (
						await run(`SELECT 0 AS id, name AS text FROM ${schema}records WHERE shelf = $1`, row.shelf)
					).filter(({ text }) => row.name.test(text))
				: sessions.filter(({ text }) => row.key.test(text));
		const [{ id, text } = { id: 0, text: "" }] = found;
		if (found.length !== 1)
			throw new Error(`${found.length} rows match ${JSON.stringify(row)}, ${row.kind}.`);
		if (row.kind === "record")
			await run(`UPDATE ${schema}records SET body = '{' WHERE shelf = $1 AND name = $2`, row.shelf, text);
		else if (row.kind === "value")
			await run(
				`UPDATE ${schema}session_values SET value = '{' WHERE session = $1 AND name = $2`,
				id,
				row.name,
			);
		else await run(`UPDATE ${schema}entries SET body = '{' WHERE session = $1 AND seq = $2`, id, row.seq);
	}
}

/** Rows of a file. */
export function damagedSqlite(): DamagedStore {
	const path = join(temporaryFolder(), "damaged.db");
	return {
		open: () => sqliteHost(path),
		async damage(rows) {
			const file = new DatabaseSync(path);
			const run: Run = async (sql, ...values) =>
				file.prepare(sql.replaceAll(/\$\d/g, "?")).all(...values) as unknown as Found[];
			await damageRows(run, "", rows);
			file.close();
		},
		close: async () => {},
	};
}

/** Rows of a schema. */
export function damagedPostgres({ url, schema }: PostgresServer): DamagedStore {
	const name = schema();
	return {
		open: () => postgresHost({ connectionString: url, schema: name, leaseTtlMs: 120_000 }),
		async damage(rows) {
			const client = new pg.Client({ connectionString: url });
			await client.connect();
			const run: Run = async (sql, ...values) => (await client.query(sql, [...values])).rows;
			await damageRows(run, `${name}.`, rows);
			await client.end();
		},
		close: async () => {},
	};
}
