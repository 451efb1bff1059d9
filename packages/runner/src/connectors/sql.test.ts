// The connector for SQL: what is bound, what is refused before anything executes, and what may write.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { finish, made, use } from "../agent/agent.fixture.ts";
import { contextOf } from "./connectors.fixture.ts";
import { type SqlDriver, sqlConnector, sqliteDriver } from "./index.ts";

let path: string;
let database: DatabaseSync;
let drivers: readonly (readonly [string, SqlDriver])[];

beforeEach(() => {
	path = join(temporaryFolder(), "a.db");
	database = new DatabaseSync(path);
	database.exec(
		"CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO t (name) VALUES ('one'), ('two')",
	);
	drivers = [
		["in this process", sqliteDriver({ database })],
		["in its own", sqliteDriver({ path })],
	];
});

afterEach(async () => {
	for (const [, driver] of drivers) await driver.close?.();
	database.close();
});

/** What both drivers answer, which must be the same. */
async function run(sql: string, params?: readonly unknown[], allowDbWrites = false) {
	const answers = [];
	for (const [, driver] of allowDbWrites ? drivers.slice(0, 1) : drivers) {
		const input = { sql, ...(params === undefined ? {} : { params }) };
		answers.push(await sqlConnector({ driver }).run(input, contextOf({ allowDbWrites })));
	}
	for (const answer of answers) expect(answer).toEqual(answers[0]);
	return answers[0] as Awaited<ReturnType<ReturnType<typeof sqlConnector>["run"]>>;
}

const rows = (sql: string): unknown[] =>
	database
		.prepare(sql)
		.all()
		.map((row) => ({ ...row }));
const unchanged = (): void => {
	expect(rows("SELECT * FROM t")).toEqual([
		{ id: 1, name: "one" },
		{ id: 2, name: "two" },
	]);
	expect(rows("SELECT name FROM sqlite_schema")).toEqual([{ name: "t" }]);
};

test("is not safe by default, and needs to be enabled [RUN-071] [RUN-072]", async () => {
	const connector = sqlConnector({ driver: sqliteDriver({ database }) });
	const description = expect.stringMatching(/./);
	expect(connector).toMatchObject({ id: "sql", description, safeByDefault: false });
	const input = { sql: "SELECT name FROM t WHERE id = ?", params: [1] };
	const code = async (enableTools: string[]) =>
		(await made([use("sql", input), finish], { tools: [connector], enableTools }).runOnce()).actions?.[0];
	expect(await code([])).toMatchObject({ ok: false, error: { code: "TOOL_NOT_ENABLED" } });
	expect(await code(["sql"])).toMatchObject({ ok: true, output: { rows: [{ name: "one" }] } });
});

describe("parameters", () => {
	test.each(["'; DROP TABLE t;--", '"; DELETE FROM t; --', "' OR 1=1 --", "?", "\\'; DROP TABLE t", "😀"])(
		"such as %j are bound literally [RUN-085]",
		async (value) => {
			for (const [, driver] of drivers) {
				const connector = sqlConnector({ driver });
				const context = contextOf({ allowDbWrites: true });
				const inserted = await connector.run(
					{ sql: "INSERT INTO t (name) VALUES (?)", params: [value] },
					context,
				);
				expect(inserted).toMatchObject({ ok: true, output: { changes: 1 } });
				const found = await connector.run(
					{ sql: "SELECT name FROM t WHERE name = ?", params: [value] },
					context,
				);
				expect(found).toMatchObject({ ok: true, output: { rows: [{ name: value }] } });
				await connector.run({ sql: "DELETE FROM t WHERE name = ?", params: [value] }, context);
			}
			unchanged();
		},
	);

	test("keep their type: integers, fractions, booleans, null, and integers beyond the safe range [RUN-085]", async () => {
		const { output } = await run(
			"SELECT typeof(?) a, typeof(?) b, typeof(?) c, typeof(?) d, 9007199254740993 e, x'00ff' f, ? g",
			[5, 1.5, true, null, "x"],
		);
		expect(output).toEqual({
			rows: [
				{
					a: "integer",
					b: "real",
					c: "integer",
					d: "null",
					e: "9007199254740993",
					f: { base64: "AP8=" },
					g: "x",
				},
			],
		});
	});

	test.each([
		["SELECT ?", []],
		["SELECT ?", [1, 2]],
		["SELECT 1", [1]],
		["SELECT ?, '?', \"?\" , [x] -- ?\n /* ? */", [1, 2]],
		["SELECT ?1", [1]],
		["SELECT :name", [1]],
		["SELECT @name", [1]],
		["SELECT $name", [1]],
		["SELECT $1", [1]],
	])("in another number than placeholders are SQL_REFUSED: %s with %j [RUN-086]", async (sql, params) => {
		const query = vi.fn();
		const connector = sqlConnector({ driver: { query } });
		expect(await connector.run({ sql, params }, contextOf())).toMatchObject({
			ok: false,
			meta: { code: "SQL_REFUSED" },
		});
		expect(query).not.toHaveBeenCalled();
	});

	test("cannot be lists or objects", async () => {
		for (const params of [[[1]], [{}], "x"])
			expect((await run("SELECT ?", params as never)).meta?.code).toBe("TOOL_INPUT_INVALID");
		expect((await run("SELECT ?", ["a\0b"])).meta?.code).toBe("SQL_REFUSED");
	});
});

describe("several statements", () => {
	test.each([
		"SELECT 1; DROP TABLE t",
		"INSERT INTO t (name) VALUES ('x'); DELETE FROM t",
		"SELECT 1;;SELECT 2",
		"SELECT 'a''; '; DELETE FROM t",
		"SELECT 1 /* ; */ ; /* */ DELETE FROM t",
		"SELECT 1 -- ;\n; DELETE FROM t",
		'SELECT "a;"; DELETE FROM t',
		"SELECT `a;`; DELETE FROM t",
		"SELECT E'\\'' ; DELETE FROM t; --'",
		"SELECT [a'b]; DELETE FROM t; --']",
		"SELECT 1; \0 DELETE FROM t",
		"SELECT 'a",
		"SELECT 1 /* ",
		"",
		" ; ; ",
		"-- nothing",
	])("are SQL_REFUSED before anything executes: %j [RUN-086]", async (sql) => {
		const query = vi.fn();
		expect(
			await sqlConnector({ driver: { query } }).run({ sql }, contextOf({ allowDbWrites: true })),
		).toMatchObject({
			ok: false,
			meta: { code: "SQL_REFUSED" },
		});
		expect(query).not.toHaveBeenCalled();
		unchanged();
	});

	test("are also rejected by SQLite's own parser, and a semicolon at the end or in a text is not a second statement [RUN-086]", async () => {
		for (const [, driver] of drivers) {
			const statement = {
				sql: "SELECT 1; DROP TABLE t",
				placeholders: [],
				params: [],
				readOnly: false,
				maxRows: 1,
				maxCharacters: 100,
				timeoutMs: 1_000,
			};
			await expect(driver.query(statement, new AbortController().signal)).rejects.toMatchObject({
				code: "SQL_REFUSED",
			});
			await expect(
				driver.query({ ...statement, sql: "SELECT ?", params: [1, 2] }, new AbortController().signal),
			).rejects.toMatchObject({ code: "SQL_FAILED" });
		}
		unchanged();
		expect(await run("SELECT ';' AS a ; -- end\n ;")).toMatchObject({
			ok: true,
			output: { rows: [{ a: ";" }] },
		});
	});

	test.each([
		"PRAGMA query_only = OFF",
		"PRAGMA user_version",
		"ATTACH 'x.db' AS x",
		"DETACH x",
		"VACUUM INTO 'x.db'",
		"BEGIN",
		"COMMIT",
		"SAVEPOINT s",
		"EXPLAIN SELECT 1",
		"REINDEX",
		"(SELECT 1)",
	])("and changes of the connection are refused: %s, even with writes allowed [RUN-086]", async (sql) => {
		for (const allowed of [false, true]) expect((await run(sql, [], allowed)).meta?.code).toBe("SQL_REFUSED");
		expect(existsSync("x.db")).toBe(false);
	});
});

describe("writing", () => {
	const statements = [
		"INSERT INTO t (name) VALUES ('x')",
		"insert into t (name) values ('x') returning id",
		"UPDATE t SET name = 'x'",
		"DELETE FROM t",
		"REPLACE INTO t VALUES (1, 'x')",
		"CREATE TABLE u (a)",
		"CREATE TEMP TABLE u (a)",
		"DROP TABLE t",
		"ALTER TABLE t ADD COLUMN x",
		"WITH x AS (SELECT 'x') INSERT INTO t (name) SELECT * FROM x",
		"WITH x AS (SELECT 1) UPDATE t SET name = 'x'",
		"/* SELECT */ WITH x AS (SELECT 1) DELETE FROM t",
	];

	test.each(statements)("is SQL_READONLY by default: %s [RUN-087]", async (sql) => {
		expect(await run(sql)).toMatchObject({ ok: false, meta: { code: "SQL_READONLY" } });
		unchanged();
		const query = vi.fn();
		await sqlConnector({ driver: { query } }).run({ sql }, contextOf());
		expect(query).not.toHaveBeenCalled();
	});

	test.each(statements)("is also rejected by the connection itself: %s [RUN-087]", async (sql) => {
		const signal = new AbortController().signal;
		const statement = {
			sql,
			placeholders: [],
			params: [],
			readOnly: true,
			maxRows: 10,
			maxCharacters: 1_000,
			timeoutMs: 1_000,
		};
		for (const [, driver] of drivers)
			await expect(driver.query(statement, signal)).rejects.toMatchObject({ code: "SQL_READONLY" });
		unchanged();
	});

	test("is also not allowed in a statement that starts with a read, even where writes are allowed [RUN-087]", async () => {
		const query = vi.fn(async () => ({ rows: [] }));
		await sqlConnector({ driver: { query } }).run({ sql: "SELECT 1" }, contextOf({ allowDbWrites: true }));
		expect(query).toHaveBeenCalledWith(expect.objectContaining({ readOnly: true }), expect.anything());
	});

	test("is allowed only if the agent has allowDbWrites [RUN-087]", async () => {
		for (const [, driver] of drivers) {
			const input = {
				sql: "WITH x AS (SELECT ? AS n) INSERT INTO t (name) SELECT n FROM x RETURNING name",
				params: ["three"],
			};
			const action = async (allowDbWrites?: boolean) => {
				const config = {
					tools: [sqlConnector({ driver })],
					enableTools: ["sql"],
					...(allowDbWrites === undefined ? {} : { allowDbWrites }),
				};
				return (await made([use("sql", input), finish], config).runOnce()).actions?.[0];
			};
			expect(await action()).toMatchObject({ ok: false, error: { code: "SQL_READONLY" } });
			unchanged();
			// What was read keeps nothing from being written.
			expect((await sqlConnector({ driver }).run({ sql: "SELECT 1" }, contextOf())).ok).toBe(true);
			expect(await action(true)).toMatchObject({ ok: true, output: { rows: [{ name: "three" }] } });
			database.exec("DELETE FROM t WHERE name = 'three'");
			expect(await action(false)).toMatchObject({ ok: false, error: { code: "SQL_READONLY" } });
		}
		expect(rows("PRAGMA query_only")).toEqual([{ query_only: 0 }]);
	});
});

describe("a large result", () => {
	const endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n";

	test("is cut by rows and by characters", async () => {
		for (const [, driver] of drivers) {
			const connector = sqlConnector({ driver, maxRows: 3 });
			expect(await connector.run({ sql: endless }, contextOf())).toEqual({
				ok: true,
				output: { rows: [{ i: 1 }, { i: 2 }, { i: 3 }] },
				meta: { truncated: true },
			});
			const small = sqlConnector({ driver, maxCharacters: 50 });
			const { output, meta } = await small.run({ sql: endless }, contextOf());
			expect([(output as { rows: unknown[] }).rows.length, meta?.truncated]).toEqual([7, true]);
		}
	});

	test("abandons a driver that ignores its signal a second after the timeout", async () => {
		const driver: SqlDriver = { query: () => new Promise(() => {}) };
		const ran = sqlConnector({ driver, timeoutMs: 20 }).run({ sql: "SELECT 1" }, contextOf());
		expect(await ran).toMatchObject({ ok: false, meta: { code: "SQL_TIMEOUT" } });
	});

	test("never blocks this process: an endless statement is killed, and the next one works", async () => {
		const driver = drivers[1]?.[1] as SqlDriver;
		const connector = sqlConnector({ driver, timeoutMs: 400 });
		const began = performance.now();
		const [slow, other] = await Promise.all([
			connector.run({ sql: `SELECT count(*) FROM (${endless})` }, contextOf()),
			sqlConnector({ driver }).run({ sql: "SELECT 1 AS a" }, contextOf()),
		]);
		expect(slow).toMatchObject({ ok: false, meta: { code: "SQL_TIMEOUT" } });
		expect(other).toMatchObject({ ok: true, output: { rows: [{ a: 1 }] } });
		expect(performance.now() - began).toBeLessThan(5_000);
		expect((await sqlConnector({ driver }).run({ sql: "SELECT 2 AS a" }, contextOf())).ok).toBe(true);
	});

	test("is read in linear time, for any content", () => {
		for (const piece of [
			"/",
			"'",
			"''",
			"-",
			"--\n",
			"/**/",
			"[",
			"[]",
			"1",
			"1.",
			"a",
			"?",
			":",
			"::",
			";",
			" ",
			"😀",
			"(",
		]) {
			const sql = `SELECT ${piece.repeat(90_000 / piece.length)}`;
			const began = process.cpuUsage();
			void sqlConnector({ driver: { query: vi.fn() } }).run({ sql }, contextOf());
			expect([piece, process.cpuUsage(began).user < 1_000_000]).toEqual([piece, true]);
		}
	});
});

test("SQLite's errors are results with a code, and invalid options are rejected", async () => {
	expect(await run("SELECT * FROM missing")).toMatchObject({
		ok: false,
		meta: { code: "SQL_FAILED", message: expect.stringContaining("missing") },
	});
	const nowhere = sqlConnector({ driver: sqliteDriver({ path: "/no/such/file.db" }) });
	expect(await nowhere.run({ sql: "SELECT 1" }, contextOf())).toMatchObject({
		ok: false,
		meta: { code: "SQL_FAILED" },
	});
	expect(() => sqliteDriver({ path: ":memory:" })).toThrow(
		expect.objectContaining({ code: "CONFIG_INVALID" }),
	);
	expect(() => sqlConnector({ driver: sqliteDriver({ database }), maxRows: 0 })).toThrow(
		expect.objectContaining({ code: "CONFIG_INVALID" }),
	);
});
