// Fairness: a tenant with many sessions does not delay another tenant's.
import { storeKeyOf } from "holdfast/execute";
import { expect, test } from "vitest";
import { testServer } from "../test-server.fixture.ts";
import { inputOf, openHost, storeOfEachTest, takeFrom } from "./dispatch.fixture.ts";

const store = storeOfEachTest();
const big = (number: number): string => storeKeyOf("big", `s${number}`);
const small = storeKeyOf("small", "s");

test("a tenant's only session is next, however many of another tenant wait", async () => {
	const host = openHost(store);
	const taker = await takeFrom(store, host);
	await host.journal.submit(big(0), inputOf("go"));
	await expect.poll(() => taker.begun).toEqual([big(0)]);
	const others = Array.from({ length: 300 }, (_, number) => big(number + 1));
	await Promise.all(others.map((key) => host.journal.submit(key, inputOf("go"))));
	await host.journal.submit(small, inputOf("go"));
	taker.open();
	await expect.poll(() => taker.ended.length).toBe(302);
	expect(taker.begun.indexOf(small)).toBe(1);
	expect(taker.begun.filter((key) => key !== small).toSorted()).toEqual([big(0), ...others].toSorted());
});

test("tenants with many sessions each are served in turn, and a later tenant is not held back", async () => {
	const host = openHost(store);
	const taker = await takeFrom(store, host);
	await host.journal.submit(big(0), inputOf("go"));
	await expect.poll(() => taker.begun).toEqual([big(0)]);
	const of = (tenant: string): string[] =>
		Array.from({ length: 20 }, (_, number) => storeKeyOf(tenant, `s${number}`));
	for (const key of [...of("a"), ...of("b")]) await host.journal.submit(key, inputOf("go"));
	taker.open();
	await expect.poll(() => taker.ended.length).toBe(41);
	const tenants = taker.begun.slice(1).map((key) => (key.includes("\u0000a\u0000") ? "a" : "b"));
	for (let from = 0; from < 40; from += 2)
		expect(tenants.slice(from, from + 2).toSorted()).toEqual(["a", "b"]);
});

test("a new tenant starts at the current turn, and not before earlier tenants", async () => {
	const host = openHost(store);
	let held: Promise<undefined> | undefined;
	const taker = await takeFrom(store, host, { work: async () => held });
	taker.open();
	const submit = (tenant: string, count: number): Promise<unknown> =>
		Promise.all(
			Array.from({ length: count }, (_, number) =>
				host.journal.submit(storeKeyOf(tenant, `s${number}`), inputOf("go")),
			),
		);
	await submit("old", 30);
	await expect.poll(() => taker.ended.length).toBe(30);
	const server = await testServer();
	const reached = `SELECT turn::int AS turn FROM ${store.schema}.turn_reached`;
	await expect
		.poll(async () => (await server.query<{ turn: number }>(reached))[0]?.turn)
		.toBeGreaterThanOrEqual(15);
	const gate = Promise.withResolvers<undefined>();
	held = gate.promise;
	await host.journal.submit(big(0), inputOf("go"));
	await expect.poll(() => taker.begun.length).toBe(31);
	await submit("old", 20);
	await submit("new", 20);
	gate.resolve(undefined);
	await expect.poll(() => taker.ended.length).toBe(71);
	const first = taker.begun.slice(31, 61);
	expect(first.filter((key) => key.includes("\u0000old\u0000")).length).toBeGreaterThanOrEqual(10);
});

test("a deadline that arrives while all are busy is queued with its tenant", async () => {
	const host = openHost(store);
	const server = await testServer();
	const taker = await takeFrom(store, host);
	await host.journal.submit(big(0), inputOf("go"));
	await expect.poll(() => taker.begun).toEqual([big(0)]);
	await Promise.all(
		Array.from({ length: 50 }, (_, number) => host.journal.submit(big(number + 1), inputOf("go"))),
	);
	const jobs = `${store.schema}_jobs`;
	await host.journal.submit(small, inputOf("go"));
	// As that of a deadline is, or of one that failed.
	await server.query(
		`SELECT ${jobs}.reschedule_jobs(ARRAY(SELECT id FROM ${jobs}.jobs ORDER BY id DESC LIMIT 1), run_at => now())`,
	);
	const late = `SELECT count(*)::int AS count FROM ${jobs}.jobs WHERE run_at > '2000-01-01' AND locked_at IS NULL`;
	await expect.poll(async () => (await server.query<{ count: number }>(late))[0]?.count).toBe(0);
	taker.open();
	await expect.poll(() => taker.ended.length).toBe(52);
	expect(taker.begun.indexOf(small)).toBeLessThanOrEqual(2);
});

test("sessions of a tenant, of its users and of their children share one queue", async () => {
	const host = openHost(store);
	await takeFrom(store, host);
	const server = await testServer();
	const lineOf = async (key: string): Promise<string | undefined> => {
		await host.journal.submit(key, { ...inputOf("go"), workerId: host.journal.workerId });
		const found = `SELECT ${store.schema}.tenant_1(key)::text AS line FROM ${store.schema}.sessions ORDER BY id DESC LIMIT 1`;
		return (await server.query<{ line: string }>(found))[0]?.line;
	};
	const user = (tenant: string, name: string): string =>
		`\u0000user\u0000${tenant.length}\u0000${tenant}${name}`;
	const acme = await lineOf(storeKeyOf("acme", "one"));
	const [others, none] = [await lineOf(storeKeyOf("acme2", "one")), await lineOf("one")];
	expect(new Set([acme, others, none]).size).toBe(3);
	expect(await lineOf(storeKeyOf("acme", "two"))).toBe(acme);
	expect(await lineOf(storeKeyOf(user("acme", "bob"), "one"))).toBe(acme);
	const parent = storeKeyOf("acme", "one");
	const child = `\u0000sub\u0000${parent.length}\u0000${parent}\u00006\u0000helper\u0000x`;
	expect(await lineOf(child)).toBe(acme);
	expect(await lineOf("two")).toBe(none);
	const odd = "\u{1F600}".repeat(20);
	expect(await lineOf(storeKeyOf(odd, "one"))).toBe(await lineOf(storeKeyOf(odd, "two")));
});
