import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import type { SqlConnection } from "./connection.ts";
import { loadSqlite } from "./load-sqlite.ts";
import { ownConnection } from "./node-connection.ts";

let database: DatabaseSync;
let other: DatabaseSync;
let connection: SqlConnection;

beforeEach(() => {
	const path = join(temporaryFolder(), "numbers.db");
	const { DatabaseSync } = loadSqlite();
	database = new DatabaseSync(path);
	database.exec("PRAGMA journal_mode = WAL; CREATE TABLE numbers (value INTEGER)");
	other = new DatabaseSync(path);
	connection = ownConnection(database);
});
afterEach(() => {
	if (database.isOpen) database.close();
	other.close();
});

function count(): number {
	return (connection.prepare("SELECT count(*) AS count FROM numbers").get() as { count: number }).count;
}

const read = (): number | undefined => connection.read?.(count, "one");

const add = (to: Pick<DatabaseSync, "exec">): void => to.exec("INSERT INTO numbers VALUES (1)");

test("concurrent reads share a transaction from the second on; a reader that awaits one then reads the current data", async () => {
	const before = [read(), read(), add(other), read()];
	expect(before).toEqual([0, 0, undefined, 0]);
	await before[0];
	expect(read()).toBe(1);
	await undefined;
	add(other);
	expect(read()).toBe(2);
});

test("a failing end of a read transaction throws nothing, and the next read and write run", async () => {
	let failing = 0;
	const damaged: DatabaseSync = new Proxy(database, {
		get(target, name) {
			const member = Reflect.get(target, name, target);
			if (name !== "prepare") return typeof member === "function" ? member.bind(target) : member;
			return (text: string) => {
				const statement = target.prepare(text);
				if (text !== "COMMIT") return statement;
				const run = (): unknown => {
					if (failing-- > 0) throw new Error("database disk image is malformed");
					return statement.run();
				};
				return { run };
			};
		},
	});
	connection = ownConnection(damaged);
	failing = 1;
	expect([read(), read()]).toEqual([0, 0]);
	await new Promise((resolve) => setImmediate(resolve));
	expect(failing).toBe(0);
	expect(database.isTransaction).toBe(false);
	expect(read()).toBe(0);
	connection.atomically(() => add(connection));
	expect(read()).toBe(1);
});

test("a read of several statements is a transaction", async () => {
	const both = connection.read?.(() => [count(), add(other), count()], "several");
	expect(both).toEqual([0, undefined, 0]);
	await both;
	expect(read()).toBe(1);
});

test("a write right after a read, or with a read inside it, is its own transaction", async () => {
	expect([read(), read()]).toEqual([0, 0]);
	const within = connection.atomically(() => {
		add(connection);
		return read();
	});
	expect([within, read()]).toEqual([1, 1]);
	expect(() =>
		connection.atomically(() => {
			add(connection);
			throw new Error("no");
		}),
	).toThrow("no");
	expect(read()).toBe(1);
	await undefined;
	add(other);
	expect(read()).toBe(2);
});

test("a read that fails, or after which the database is closed, leaves no transaction open", async () => {
	expect(() =>
		connection.read?.(() => {
			throw new Error("locked");
		}, "several"),
	).toThrow("locked");
	await undefined;
	expect(database.isTransaction).toBe(false);
	expect([read(), read()]).toEqual([0, 0]);
	database.close();
	await undefined;
});
