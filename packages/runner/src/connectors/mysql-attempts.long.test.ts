// Attempts to write through a connector that may only read, on a real MariaDB: the driver is one as the guide describes it.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { contextOf } from "./connectors.fixture.ts";
import { sqlConnector } from "./index.ts";
import {
	hasMariadb,
	type MysqlServer,
	mariadbServer,
	mysqlDriver,
	startMysqlServer,
} from "./mysql.fixture.ts";
import { attempts as anywhere, pieces } from "./sql-attempts.fixture.ts";
import { parseStatement } from "./sql-statement.ts";

const rows = [
	{ id: 1, name: "one" },
	{ id: 2, name: "two" },
];

/** What only MySQL and MariaDB understand. `OUT` is a file. */
const own: readonly string[] = [
	"SELECT 1 /*! INTO OUTFILE 'OUT' */",
	"SELECT 1 /*!50000 INTO OUTFILE 'OUT' */",
	"SELECT 1 /*M!100000 INTO OUTFILE 'OUT' */",
	"SELECT 1 INTO OUTFILE 'OUT'",
	"SELECT 1 INTO\tDUMPFILE 'OUT'",
	"SELECT 1 INTO/**/OUTFILE 'OUT'",
	"SELECT 1 FROM t LIMIT 1 INTO OUTFILE 'OUT'",
	"(SELECT 1) INTO OUTFILE 'OUT'",
	"SELECT * FROM t UNION SELECT 1, 'x' INTO OUTFILE 'OUT'",
	"SELECT 1 INTO @a",
	"SELECT @a := 1",
	"SELECT @'a' := 1, deletes()",
	"SELECT @@global.max_connections := 5",
	"SELECT deletes()",
	"SELECT deletes() FROM t",
	"SELECT `deletes`()",
	"SELECT test.deletes()",
	"SELECT * FROM t WHERE deletes() = 1",
	"WITH x AS (SELECT deletes() AS d) SELECT * FROM x",
	"VALUES (deletes())",
	"SELECT myisam()",
	"SELECT NEXTVAL(numbers)",
	"SELECT NEXT VALUE FOR numbers",
	"SELECT SETVAL(numbers, 50)",
	"SELECT * FROM t PROCEDURE ANALYSE()",
	"SELECT 1; DELETE FROM t",
	"SELECT 1 -- \r; DELETE FROM t",
	"SELECT 1 # \n; DELETE FROM t",
	"SELECT 1 --\n; DELETE FROM t",
	"SELECT 'a\\'; DELETE FROM t; -- '",
	'SELECT "a\\"; DELETE FROM t; -- "',
	"SELECT 1 /*!; DELETE FROM t */",
	"SELECT 1 /*!99999 ; */ ; DELETE FROM t",
	"SELECT STRAIGHT_JOIN deletes()",
	"SELECT SQL_CALC_FOUND_ROWS deletes()",
	"SELECT HIGH_PRIORITY deletes() INTO @x",
	"SET @a = 1",
	"SET GLOBAL read_only = 0",
	"SET STATEMENT max_statement_time=0 FOR DELETE FROM t",
	"DO deletes()",
	"CALL removes()",
	"HANDLER t OPEN",
	"HANDLER t READ FIRST",
	"LOCK TABLES t WRITE",
	"FLUSH TABLES",
	"LOAD DATA INFILE '/etc/passwd' INTO TABLE t",
	"LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE t",
	"PREPARE p FROM 'DELETE FROM t'",
	"EXECUTE IMMEDIATE 'DELETE FROM t'",
	"BEGIN NOT ATOMIC DELETE FROM t; END",
	"XA START 'x'",
	"COMMIT",
	"COMMIT AND CHAIN",
	"START TRANSACTION READ WRITE",
	"SHUTDOWN",
	"KILL 1",
	"INSTALL SONAME 'x'",
	"CREATE TEMPORARY TABLE u (id int)",
	"SHOW TABLES",
	"EXPLAIN DELETE FROM t",
	"ANALYZE DELETE FROM t",
	"DESCRIBE t",
	"USE mysql",
	"GRANT ALL ON *.* TO root@localhost",
	"RENAME TABLE t TO u",
	"REPLACE t VALUES (1, 'x')",
	"DELETE t FROM t",
	"UPDATE t SET name = 'x'",
	"INSERT t VALUES (3, 'x')",
	"\\d //",
	"DELIMITER //",
];

if (!hasMariadb) test.skip(`MariaDB is not installed (package mariadb-server): no ${mariadbServer}`);
else
	describe("a read-only statement on MariaDB", () => {
		let server: MysqlServer;

		beforeAll(async () => {
			server = await startMysqlServer();
			for (const sql of [
				"CREATE TABLE t (id INT PRIMARY KEY, name TEXT)",
				"CREATE TABLE old (id INT) ENGINE=MyISAM",
				"CREATE SEQUENCE numbers",
				"INSERT INTO t VALUES (1, 'one'), (2, 'two')",
				"INSERT INTO old VALUES (1)",
				"CREATE FUNCTION deletes() RETURNS INT MODIFIES SQL DATA BEGIN DELETE FROM t; RETURN 1; END",
				"CREATE FUNCTION myisam() RETURNS INT MODIFIES SQL DATA BEGIN DELETE FROM old; RETURN 1; END",
				"CREATE PROCEDURE removes() DELETE FROM t",
			])
				await server.pool.query(sql);
		}, 60_000);

		afterAll(() => server?.stop());

		async function unchanged(sql: string): Promise<void> {
			const [found] = await server.pool.query("SELECT * FROM t ORDER BY id");
			const [old] = await server.pool.query("SELECT * FROM old");
			const [tables] = await server.pool.query("SHOW TABLES");
			const [next] = await server.pool.query("SELECT next_not_cached_value AS n FROM numbers");
			expect([sql, found, old, (tables as unknown[]).length, next]).toEqual([
				sql,
				rows,
				[{ id: 1 }],
				3,
				[{ n: 1 }],
			]);
			expect(readdirSync(server.folder).sort()).toEqual(["data", "s"]);
			expect(existsSync("/tmp/holdfast")).toBe(false);
		}

		const connector = (more: object = {}) => sqlConnector({ driver: mysqlDriver(server.pool), ...more });

		test(`changes nothing, for ${own.length + anywhere.length} attempts to write`, async () => {
			expect(own.length).toBeGreaterThanOrEqual(60);
			for (const attempt of [...own, ...anywhere]) {
				const sql = attempt.replace("OUT", join(server.folder, "out"));
				const { ok, meta } = await connector().run({ sql }, contextOf());
				if (!ok)
					expect([sql, meta?.code]).toEqual([
						sql,
						expect.stringMatching(/^SQL_(?:REFUSED|READONLY|FAILED)$/),
					]);
				await unchanged(sql);
			}
		});

		test("changes nothing, for random texts of the tokens that lexers read differently", async () => {
			const more = [...pieces, "# ", "/*!50000", "/*M!", "deletes()", "@a:=", "INTO OUTFILE", "\\"];
			let sent = 0;
			await fc.assert(
				fc.asyncProperty(fc.array(fc.constantFrom(...more), { maxLength: 9 }), async (parts) => {
					const sql = `SELECT 1 ${parts.join("")}`;
					try {
						if (!parseStatement(sql).writes) sent++;
					} catch {}
					await connector().run({ sql }, contextOf());
					const [found] = await server.pool.query("SELECT * FROM t ORDER BY id");
					expect(found).toEqual(rows);
				}),
				{ numRuns: 300 },
			);
			expect(sent).toBeGreaterThan(0);
		});

		test.each([
			"SELECT SLEEP(60)",
			"SELECT BENCHMARK(10000000000, SHA2('x', 512))",
			"SELECT SLEEP(1) FROM t a, t b, t c, t d, t e, t f",
		])("that never ends, %s, is ended in time, also at the server", async (sql) => {
			const { ok, meta } = await connector({ timeoutMs: 300 }).run({ sql }, contextOf());
			expect([ok, meta?.code]).toEqual([false, "SQL_TIMEOUT"]);
			await expect
				.poll(
					async () => {
						const [running] = await server.pool.query(
							"SELECT info FROM information_schema.processlist WHERE info LIKE 'SELECT SLEEP%' OR info LIKE 'SELECT BENCH%'",
						);
						return (running as unknown[]).length;
					},
					{ timeout: 10_000 },
				)
				.toBe(0);
		});

		test("keeps no lock, variable or mode for the next one", async () => {
			await connector().run({ sql: "SELECT GET_LOCK('x', 0) AS got" }, contextOf());
			await connector().run({ sql: "SELECT @'kept' := 5 AS five" }, contextOf());
			const { output } = await connector().run(
				{ sql: "SELECT GET_LOCK('x', 0) AS got, @'kept' AS kept" },
				contextOf(),
			);
			expect(JSON.stringify(output)).toContain('"kept":null');
			expect(JSON.stringify(output)).toContain('"got":1');
		});

		test("reads what is allowed, with bound parameters", async () => {
			const { ok, output } = await connector().run(
				{ sql: "SELECT id, name FROM t WHERE name = ? OR id = ?", params: ["' OR 1=1 -- ", 2] },
				contextOf(),
			);
			expect([ok, JSON.stringify(output)]).toEqual([
				true,
				expect.stringContaining('[{"id":2,"name":"two"}]'),
			]);
		});
	});
