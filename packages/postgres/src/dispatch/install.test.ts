// Workers that start while others work with the tables.
import pg from "pg";
import { expect, test } from "vitest";
import { inputOf, openHost, storeOfEachTest, takeFrom } from "./dispatch.fixture.ts";

const store = storeOfEachTest();

/** A connection with an open transaction that works with a table. */
async function workingWith(table: string): Promise<pg.Client> {
	const client = new pg.Client({ connectionString: store.url });
	await client.connect();
	store.ends.push(() => client.end());
	await client.query("BEGIN");
	await client.query(`LOCK TABLE ${store.schema}.${table} IN ROW EXCLUSIVE MODE`);
	return client;
}

test("a worker starts while transactions are open, if an earlier worker has created the queue", async () => {
	const first = openHost(store);
	const takers = [await takeFrom(store, first)];
	await workingWith("sessions");
	await workingWith("inputs");
	takers.push(await takeFrom(store, openHost(store)));
	await first.journal.submit("s", inputOf("s"));
	await expect.poll(() => takers.flatMap(({ begun }) => begun)).toEqual(["s"]);
});

test("the first worker survives a deadlock with a transaction that works with the tables", async () => {
	const host = openHost(store);
	await host.journal.list();
	const client = await workingWith("sessions");
	const taking = takeFrom(store, host);
	const waits = `SELECT count(*)::int AS count FROM pg_locks WHERE NOT granted AND relation = '${store.schema}.sessions'::regclass`;
	// On a connection of its own: the transaction is open.
	const watcher = new pg.Client({ connectionString: store.url });
	await watcher.connect();
	store.ends.push(() => watcher.end());
	await expect.poll(async () => (await watcher.query(waits)).rows[0].count, { interval: 1 }).toBe(1);
	await client.query(`LOCK TABLE ${store.schema}.inputs IN ROW EXCLUSIVE MODE`);
	await client.query("COMMIT");
	const taker = await taking;
	taker.open();
	await host.journal.submit("s", inputOf("s"));
	await expect.poll(() => taker.begun).toEqual(["s"]);
});
