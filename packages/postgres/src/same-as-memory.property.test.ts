import { type SameWorld, sameAsMemory } from "@holdfast/testing/same-as-memory";
import { expect, onTestFinished, test } from "vitest";
import { type PostgresJournal, postgresHost } from "./index.ts";
import { testServer } from "./test-server.fixture.ts";

const tables = [
	"sessions",
	"entries",
	"chunks",
	"inputs",
	"dedupe",
	"session_values",
	"timers",
	"removed_sessions",
];
/** No heartbeats during the test, so that workers declared dead stay dead. */
const leaseTtlMs = 2_000_000_000;

test("a journal in Postgres returns the same as one in memory, for any writes in any order", async () => {
	const server = await testServer();
	const schema = server.schema();
	const open = (workerId: string): PostgresJournal => {
		const clock = { now: () => 5_000 };
		const options = { connectionString: server.url, schema, workerId, leaseTtlMs, maxConnections: 3, clock };
		const { journal } = postgresHost(options);
		onTestFinished(() => journal.close() as Promise<void>);
		return journal;
	};
	const journals = { one: open("one"), two: open("two"), three: open("three") };
	const looker = open("looker");

	const world: SameWorld = {
		journals,
		looker,
		async die(worker) {
			const dead = `UPDATE ${schema}.workers SET ttl_ms = 0 WHERE name = $1 RETURNING id`;
			expect((await server.query(dead, [worker])).length).toBe(1);
		},
		async end() {
			for (const table of tables) await server.query(`DELETE FROM ${schema}.${table}`);
			await server.query(`UPDATE ${schema}.meta SET value = 0 WHERE name = 'highest_deleted_epoch'`);
			await server.query(`UPDATE ${schema}.workers SET ttl_ms = $1`, [leaseTtlMs]);
		},
	};
	await sameAsMemory(() => world, 50);
});
