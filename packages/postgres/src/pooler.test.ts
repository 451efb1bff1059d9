// Behind a pooler in transaction mode each statement may have another connection, and none keeps anything.

import { type JournalWorld, journalContract } from "@holdfast/testing";
import { append, begin, ended, note, notes, take } from "@holdfast/testing/cases";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { type PooledConnection, type PostgresHost, type PostgresPool, postgresHost } from "./index.ts";
import { testServer } from "./test-server.fixture.ts";

/** A pool that uses a different connection for every statement, and throws if a statement leaves state in it. */
function rotatingPool(connectionString: string): PostgresPool & { end(): Promise<void> } {
	const pools = [0, 1, 2].map(() => new pg.Pool({ connectionString, max: 2 }));
	for (const pool of pools) pool.on("error", () => {});
	let next = 0;
	const connection: PooledConnection = {
		on: () => undefined,
		off: () => undefined,
		release: () => undefined,
		async query(config) {
			const { name } = config as { name?: string };
			if (name !== undefined) throw new Error(`a statement prepared under the name ${name}`);
			const pool = pools[next++ % pools.length] as pg.Pool;
			const result = await pool.query(config as pg.QueryConfig);
			// State left in a connection would affect the statements of other programs.
			const kept = await pool.query(`SELECT (SELECT count(*) FROM pg_prepared_statements WHERE name <> '')
				+ (SELECT count(*) FROM pg_listening_channels())
				+ (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()) AS count`);
			if (Number(kept.rows[0].count) > 0) throw new Error("something was kept in a connection");
			return result;
		},
	};
	return {
		options: { connectionString },
		on: () => undefined,
		connect: async () => connection,
		async end() {
			for (const pool of pools) await pool.end();
		},
	};
}

async function world(): Promise<JournalWorld & { host(): PostgresHost }> {
	const server = await testServer();
	const schema = server.schema();
	const pool = rotatingPool(server.url);
	const hosts: PostgresHost[] = [];
	const host = (): PostgresHost => {
		const made = postgresHost({ pool, pooler: "transaction", schema, leaseTtlMs: 120_000, pollMs: 20 });
		hosts.push(made);
		return made;
	};
	return {
		host,
		worker: () => host().journal,
		async end() {
			for (const each of hosts) await each.close();
			await pool.end();
		},
	};
}

const title = /is notified|notified of chunks|two concurrent appends|twenty|page by page|dedupe key count/;
for (const { name, run } of journalContract({
	name: "postgres behind a pooler",
	make: world,
	can: ["fold", "chunks"],
}))
	if (title.test(name)) test(name, run);

test("a worker behind a pooler whose heartbeat stops is considered dead after its time", async () => {
	const { url, schema } = await testServer();
	const name = schema();
	const pool = rotatingPool(url);
	const one = postgresHost({ pool, pooler: "transaction", schema: name, leaseTtlMs: 4_000 });
	const two = postgresHost({ connectionString: url, schema: name, leaseTtlMs: 120_000 });
	onTestFinished(async () => {
		await two.close();
		await one.close();
		await pool.end();
	});
	const lease = await begin(one.journal, "s");
	expect(await two.journal.acquire("s")).toEqual({ ok: false, heldBy: one.journal.workerId });
	const { connect } = pool;
	pool.connect = async () => {
		throw Object.assign(new Error("cut off"), { code: "ECONNRESET" });
	};
	await expect.poll(async () => (await two.journal.acquire("s")).ok).toBe(true);
	await append(await take(two.journal, "s"), "run-1", note("taken over"));
	pool.connect = connect;
	await expect(append(lease, "run-1", ended)).rejects.toMatchObject({ code: "lease_lost" });
	expect(notes(await two.journal.read("s"))).toEqual(["taken over"]);
});

test("with a direct connection past the pooler, the end of a process is seen at once, and notifications arrive", async () => {
	const { url, schema } = await testServer();
	const options = { pooler: "transaction", schema: schema(), leaseTtlMs: 120_000, pollMs: 100_000 } as const;
	const pool = rotatingPool(url);
	const one = postgresHost({ ...options, pool, sessionConnectionString: url });
	const two = postgresHost({ ...options, pool, sessionConnectionString: url });
	onTestFinished(async () => {
		await one.close();
		await two.close();
		await pool.end();
	});
	let heard = 0;
	two.journal.watch("s", () => heard++);
	await begin(one.journal, "s");
	await expect.poll(() => heard).toBeGreaterThan(0);
});
