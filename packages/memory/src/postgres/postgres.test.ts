import { expect, test } from "vitest";
import { contractTests, storedTests } from "../persistent.fixture.ts";
import { postgresClients } from "../postgres.ts";
import { startPostgres } from "../postgres-server.fixture.ts";
import { unreachableTests } from "../unreachable.fixture.ts";
import { postgresWorld } from "../worlds.fixture.ts";

unreachableTests("Postgres", (port, connectTimeoutMs) =>
	postgresClients({
		url: `postgres://user:secret@127.0.0.1:${port}/db`,
		unencrypted: true,
		...(connectTimeoutMs === undefined ? {} : { connectTimeoutMs }),
	}),
);

contractTests("Postgres", postgresWorld);
storedTests("Postgres", postgresWorld);

test("Postgres: clients that start at once create one schema, and a rejected statement is not retried", async () => {
	const { url, query } = await startPostgres();
	const all = Array.from({ length: 4 }, () =>
		postgresClients({ url, unencrypted: true, schema: "at once", maxConnections: 1 }),
	);
	await Promise.all(all.map((clients, at) => clients.memory.append("s", at)));
	expect((await all[0]?.memory.read("s"))?.toSorted()).toEqual([0, 1, 2, 3]);
	await query('ALTER TABLE "at once".records RENAME TO elsewhere');
	await expect(all[0]?.memory.append("s", 1)).rejects.toEqual(
		expect.objectContaining({ code: "DB_FAILED", retryable: false }),
	);
	await Promise.all(all.map((clients) => clients.close()));
	await query('DROP SCHEMA "at once" CASCADE');
});

test("Postgres: a limit of connections is rejected with a pool, which has its own", () => {
	const pool = { query: async () => ({ rows: [] }) };
	expect(() => postgresClients({ pool, maxConnections: 1, unencrypted: true })).toThrow(
		expect.objectContaining({ code: "OPTION_INVALID" }),
	);
});

test("Postgres: a server that stops answering is abandoned, and used again when it answers [RUN-102]", async () => {
	const { url, query } = await startPostgres();
	const clients = postgresClients({
		url,
		unencrypted: true,
		schema: "stops",
		commandTimeoutMs: 500,
		connectTimeoutMs: 500,
	});
	await clients.memory.append("s", 1);
	await query("BEGIN");
	await query('LOCK TABLE "stops".records');
	const unavailable = expect.objectContaining({ code: "DB_UNAVAILABLE", retryable: true });
	await expect(clients.memory.read("s")).rejects.toEqual(unavailable);
	await query("ROLLBACK");
	expect(await clients.memory.read("s")).toEqual([1]);
	await clients.close();
	await query('DROP SCHEMA "stops" CASCADE');
});

test("Postgres: an entry of very many different words is accepted, and found by the first of them", async () => {
	const { url, query } = await startPostgres();
	const clients = postgresClients({ url, unencrypted: true, schema: "words", maxEntryBytes: 10_000_000 });
	const words = Array.from(
		{ length: 400_000 },
		(_, at) => String.fromCodePoint(0x20000 + (at % 40_000)) + at.toString(36),
	);
	await clients.memory.append("s", ["start", ...words].join(" "));
	expect(await clients.memory.search("start")).toHaveLength(1);
	await clients.close();
	await query('DROP SCHEMA "words" CASCADE');
});
