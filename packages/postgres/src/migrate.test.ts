import { append, begin, ended, note, notes } from "@holdfast/testing/cases";
import { expect, onTestFinished, test } from "vitest";
import { type PostgresHost, type PostgresHostOptions, postgresHost } from "./index.ts";
import { migrations } from "./schema/index.ts";
import { testServer } from "./test-server.fixture.ts";

function open(options: PostgresHostOptions): PostgresHost {
	const host = postgresHost({ leaseTtlMs: 120_000, ...options });
	onTestFinished(() => host.close());
	return host;
}

test("many hosts that use a new schema at once create its tables once", async () => {
	const server = await testServer();
	const schema = server.schema();
	const hosts = Array.from({ length: 8 }, () => open({ connectionString: server.url, schema }));
	await Promise.all(
		hosts.map(async (host, at) => append(await begin(host.journal, `s${at}`), "run-1", ended)),
	);
	const taken = await server.query(`SELECT number FROM ${schema}.migrations ORDER BY number`);
	expect(taken).toEqual(migrations.map((_, at) => ({ number: at + 1 })));
	expect((await hosts[0]?.journal.list())?.length).toBe(8);
});

test("a failed migration step leaves nothing, and the next host runs it", async () => {
	const server = await testServer();
	const schema = server.schema();
	// A table with the name of the step's last table.
	await server.query(`CREATE SCHEMA ${schema}`);
	await server.query(`CREATE TABLE ${schema}.leftovers (id int)`);
	const host = open({ connectionString: server.url, schema });
	await expect(host.journal.head("s")).rejects.toMatchObject({ code: "journal_failed" });
	const left = `SELECT relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE n.nspname = $1 AND c.relkind = 'r'`;
	expect(await server.query(left, [schema])).toEqual([{ relname: "leftovers" }]);
	await server.query(`DROP TABLE ${schema}.leftovers`);
	expect(await host.journal.head("s")).toBeUndefined();
});

test("tables of other programs, and of incompatible releases, are unchanged", async () => {
	const server = await testServer();
	const schema = server.schema();
	await server.query(`CREATE SCHEMA ${schema}`);
	await server.query(`CREATE TABLE ${schema}.sessions (id int)`);
	const host = open({ connectionString: server.url, schema });
	await expect(host.journal.head("s")).rejects.toMatchObject({ code: "journal_foreign", data: { schema } });
	await server.query(`DROP TABLE ${schema}.sessions`);
	const lease = await begin(host.journal, "s");
	const newer = migrations.length + 1;
	await server.query(`INSERT INTO ${schema}.migrations VALUES ($1, 1, now())`, [newer]);
	const beside = open({ connectionString: server.url, schema });
	await append(lease, "run-1", note("beside a newer release"));
	expect(notes(await beside.journal.read("s"))).toEqual(["beside a newer release"]);
	await server.query(`UPDATE ${schema}.migrations SET needs = $1 WHERE number = $1`, [newer]);
	const refused = open({ connectionString: server.url, schema });
	await expect(refused.journal.read("s")).rejects.toMatchObject({ code: "journal_newer" });
	await expect(refused.journal.acquire("s")).rejects.toMatchObject({ code: "journal_newer" });
});

test("tables of a build with other migration steps are rejected with a code and unchanged", async () => {
	const server = await testServer();
	const schema = server.schema();
	const host = open({ connectionString: server.url, schema });
	await append(await begin(host.journal, "s"), "run-1", ended);
	await expectRefused(schema, `UPDATE ${schema}.migrations SET digest = gen_random_uuid() WHERE number = 1`);
	await expectRefused(schema, `ALTER TABLE ${schema}.migrations DROP COLUMN digest`);
	const kept = await server.query(`SELECT seq FROM ${schema}.sessions`);
	expect(kept).toHaveLength(1);
});

async function expectRefused(schema: string, change: string): Promise<void> {
	const server = await testServer();
	await server.query(change);
	const host = open({ connectionString: server.url, schema });
	await expect(host.journal.head("s")).rejects.toMatchObject({
		code: "journal_outdated",
		retryable: false,
		data: { schema, step: 1 },
	});
}

test("a user who may not create a schema uses an existing one", async () => {
	const server = await testServer();
	const schema = server.schema();
	const user = `user_${schema}`;
	await server.query(`CREATE ROLE ${user} LOGIN`);
	const url = new URL(server.url);
	url.username = user;
	const host = open({ connectionString: url.href, schema });
	await expect(host.journal.head("s")).rejects.toMatchObject({
		code: "journal_unavailable",
		retryable: false,
	});
	await server.query(`CREATE SCHEMA ${schema} AUTHORIZATION ${user}`);
	await append(await begin(host.journal, "s"), "run-1", ended);
	url.pathname = "/no_such_database";
	const nowhere = open({ connectionString: url.href, schema });
	await expect(nowhere.journal.head("s")).rejects.toMatchObject({ code: "journal_unavailable" });
});
