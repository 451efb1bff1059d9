// Storages for tests: each kind that clients support, with and without encryption, and with direct access to the stored
// data.
import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { clientsOver } from "./clients/index.ts";
import type { Clients, Encryption, PersistentOptions } from "./contract/index.ts";
import { KeyRing } from "./encryption/index.ts";
import { inMemoryStorage } from "./in-memory/in-memory-storage.ts";
import { postgresClients } from "./postgres.ts";
import { startPostgres } from "./postgres-server.fixture.ts";
import { redisClients } from "./redis.ts";
import { startRedis } from "./redis-server.fixture.ts";
import { sqliteClients } from "./sqlite.ts";

/** A place. */
export interface World {
	/** Opens clients over it. The caller chooses `encryption` and `unencrypted`. */
	open(options: PersistentOptions): Clients;
	/** All bytes that are stored. */
	raw(): Promise<Buffer>;
	/** Bodies by key of a value. */
	bodies(): Promise<Map<string, string>>;
	/** Puts a body in place of that of a value. */
	replace(key: string, body: string): Promise<void>;
	end(): Promise<void>;
}

/** A new file. */
export async function sqliteWorld(): Promise<World> {
	const folder = mkdtempSync(join(tmpdir(), "memory-"));
	const file = join(folder, "memory.db");
	const withDatabase = <Result>(work: (database: DatabaseSync) => Result): Result => {
		const database = new DatabaseSync(file);
		try {
			return work(database);
		} finally {
			database.close();
		}
	};
	return {
		open: (options) => sqliteClients({ ...options, file }),
		raw: async () =>
			Buffer.concat(
				["", "-wal"]
					.map((end) => file + end)
					.filter(existsSync)
					.map((path) => readFileSync(path)),
			),
		bodies: async () =>
			withDatabase((database) => {
				const rows = database.prepare("SELECT name, body FROM records WHERE kind = 'value'").all();
				return new Map(rows.map(({ name, body }) => [String(name), String(body)]));
			}),
		replace: async (key, body) =>
			withDatabase(
				(database) => void database.prepare("UPDATE records SET body = ? WHERE name = ?").run(body, key),
			),
		end: async () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }),
	};
}

/** A separate key prefix in a real Redis, which starts on first use. */
export async function redisWorld(): Promise<World> {
	const { url, command } = await startRedis();
	const prefix = `test-${randomBytes(6).toString("hex")}:`;
	const keys = async (): Promise<string[]> => (await command(["KEYS", `${prefix}*`])) as string[];
	const rows = async (): Promise<{ key: string; seq: string; row: [string | null, number, string] }[]> => {
		const found = [];
		for (const key of await keys()) {
			if (!key.startsWith(`${prefix}rows:value:`)) continue;
			for (const seq of (await command(["HKEYS", key])) as string[])
				found.push({ key, seq, row: JSON.parse((await command(["HGET", key, seq])) as string) });
		}
		return found;
	};
	return {
		open: (options) => redisClients({ ...options, url, prefix }),
		async raw() {
			const all: unknown[] = [];
			for (const key of await keys()) {
				const type = await command(["TYPE", key]);
				all.push(key);
				if (type === "hash") all.push(await command(["HKEYS", key]), await command(["HVALS", key]));
				if (type === "set") all.push(await command(["SMEMBERS", key]));
			}
			return Buffer.from(all.flat().join("\n"));
		},
		bodies: async () => new Map((await rows()).map(({ row }) => [String(row[0]), row[2]])),
		async replace(name, body) {
			for (const { key, seq, row } of await rows())
				if (row[0] === name) await command(["HSET", key, seq, JSON.stringify(row.with(2, body))]);
		},
		async end() {
			for (const key of await keys()) await command(["DEL", key]);
		},
	};
}

/** A separate schema in a real Postgres, which starts on first use. */
export async function postgresWorld(): Promise<World> {
	const { url, query } = await startPostgres();
	const schema = `test "${randomBytes(6).toString("hex")}`;
	const table = `"${schema.replace('"', '""')}".records`;
	return {
		open: (options) => postgresClients({ ...options, url, schema, maxConnections: 3 }),
		raw: async () =>
			Buffer.from((await query(`SELECT r::text AS row FROM ${table} r`)).map(({ row }) => row).join("\n")),
		bodies: async () => {
			const rows = await query(`SELECT name, body FROM ${table} WHERE kind = 'value'`);
			return new Map(rows.map(({ name, body }) => [String(name), String(body)]));
		},
		replace: async (key, body) =>
			void (await query(`UPDATE ${table} SET body = $1 WHERE name = $2`, [body, key])),
		end: async () => void (await query(`DROP SCHEMA IF EXISTS "${schema.replace('"', '""')}" CASCADE`)),
	};
}

/** A key ring of one key. */
export const encryption: Encryption = { keys: { k1: randomBytes(32).toString("base64") }, current: "k1" };

/** A place in memory. */
export function inMemoryWorld(): Pick<World, "open" | "end"> {
	const storage = inMemoryStorage();
	return {
		open: (options) =>
			clientsOver(
				storage,
				options,
				options.encryption === undefined ? undefined : new KeyRing(options.encryption),
			),
		async end() {},
	};
}
