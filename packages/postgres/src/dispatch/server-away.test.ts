// The queue of a process while the server is unavailable.
import { expect, test } from "vitest";
import { wayTo } from "../cut-connections.fixture.ts";
import { testServer } from "../test-server.fixture.ts";
import { inputOf, openHost, storeOfEachTest, takeFrom } from "./dispatch.fixture.ts";

const store = storeOfEachTest();

async function begunThrough() {
	const server = await testServer();
	const way = await wayTo(Number(new URL(store.url).port));
	const host = openHost({ ...store, url: way.url(store.url) });
	const taker = await takeFrom(store, host);
	await openHost(store).journal.submit("s", inputOf("go"));
	await expect.poll(() => taker.begun).toEqual(["s"]);
	const jobs = async (): Promise<number> => {
		const count = `SELECT count(*)::int AS count FROM ${store.schema}_jobs.jobs`;
		return (await server.query<{ count: number }>(count))[0]?.count ?? 0;
	};
	return { way, host, taker, jobs };
}

test("work that ends while the server is unavailable is reported once it is back, and the process stays alive", async () => {
	const { way, taker, jobs } = await begunThrough();
	way.cut();
	taker.open();
	await expect.poll(() => taker.ended).toEqual(["s"]);
	// Long enough for a try that fails.
	await new Promise((resolve) => setTimeout(resolve, 300));
	expect(await jobs()).toBe(1);
	way.join();
	await expect.poll(jobs).toBe(0);
	await openHost(store).journal.submit("t", inputOf("go"));
	await expect.poll(() => taker.ended).toEqual(["s", "t"]);
});

test("a process that stops while the server is unavailable exits, and its job stays for others", async () => {
	const { way, taker, jobs } = await begunThrough();
	way.cut();
	taker.open();
	await expect.poll(() => taker.ended).toEqual(["s"]);
	await taker.stop();
	expect(await jobs()).toBe(1);
	way.join();
});

test("a process considers itself alive, whatever its row contains: none of its own jobs is handed out again", async () => {
	const server = await testServer();
	const host = openHost(store);
	const taker = await takeFrom(store, host, { atOnce: 2 });
	const other = openHost(store);
	await other.journal.submit("s", inputOf("go"));
	await expect.poll(() => taker.begun).toEqual(["s"]);
	await server.query(`UPDATE ${store.schema}.workers SET ttl_ms = 0`);
	// The next look forgets a worker that is not there.
	await server.query(`INSERT INTO ${store.schema}.dead_workers VALUES (-1, now())`);
	const strangers = `SELECT worker FROM ${store.schema}.dead_workers WHERE worker = -1`;
	await expect.poll(() => server.query(strangers)).toEqual([]);
	await other.journal.submit("t", inputOf("go"));
	await expect.poll(() => taker.begun).toEqual(["s", "t"]);
});
