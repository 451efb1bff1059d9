// What is handed out, when, to which taker, and how many at once.
import { scriptedModel } from "@holdfast/testing";
import { Agent } from "holdfast";
import { storeKeyOf } from "holdfast/execute";
import { expect, test } from "vitest";
import { testServer } from "../test-server.fixture.ts";
import { inputOf, openHost, storeOfEachTest, takeFrom } from "./dispatch.fixture.ts";

const store = storeOfEachTest();

test("a waiting run is handed out at its deadline, and not before", async () => {
	const host = openHost(store);
	const at: number[] = [];
	const taker = await takeFrom(store, openHost(store), {
		work: async () => void at.push(Date.now()),
	});
	taker.open();
	const ask = { name: "ask", description: "Asks.", parameters: { type: "object" }, timeoutMs: 1_500 };
	const never = { after: () => () => {} };
	const agent = new Agent({
		model: scriptedModel(() => ({ toolCalls: [{ name: "ask" }] })),
		tools: [ask],
		host,
		ports: { timers: never },
	});
	store.ends.push(() => agent.close());
	const { pending } = await (await agent.session("waits").send("go")).result();
	const deadline = pending?.[0]?.deadline ?? Number.NaN;
	await expect.poll(() => taker.ended).toEqual(["waits"]);
	expect(at[0]).toBeGreaterThanOrEqual(deadline);
});

test("jobs that an older release creates for deadlines are processed", async () => {
	const host = openHost(store);
	const at: number[] = [];
	const taker = await takeFrom(store, openHost(store), {
		work: async () => void at.push(Date.now()),
	});
	taker.open();
	const server = await testServer();
	const { schema } = store;
	// As a process of that release does when it starts: it creates a job for each deadline when it is set.
	await server.query(`CREATE FUNCTION ${schema}.will_be_due_1() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		PERFORM ${schema}_jobs.add_job('work_on_session', json_build_object('key', NEW.key), NULL, to_timestamp(NEW.look_at / 1000.0),
			32000, 'due:' || NEW.digest::text, 0, NULL, 'replace');
		RETURN NULL;
	END $$`);
	await server.query(`CREATE TRIGGER will_be_due AFTER UPDATE OF look_at ON ${schema}.sessions FOR EACH ROW
		WHEN (NEW.look_at IS DISTINCT FROM OLD.look_at) EXECUTE FUNCTION ${schema}.will_be_due_1()`);
	const ask = { name: "ask", description: "Asks.", parameters: { type: "object" }, timeoutMs: 1_000 };
	const agent = new Agent({
		model: scriptedModel(() => ({ toolCalls: [{ name: "ask" }] })),
		tools: [ask],
		host,
		ports: { timers: { after: () => () => {} } },
	});
	store.ends.push(() => agent.close());
	const { pending } = await (await agent.session("waits").send("go")).result();
	const jobs = `SELECT key FROM ${schema}_jobs.jobs`;
	const made = await server.query<{ key: string }>(jobs);
	expect(made.map(({ key }) => key.slice(0, 4))).toEqual(["due:"]);
	await expect.poll(() => taker.ended.length).toBeGreaterThanOrEqual(2);
	expect(new Set(taker.ended)).toEqual(new Set(["waits"]));
	expect(at[0]).toBeGreaterThanOrEqual(pending?.[0]?.deadline ?? Number.NaN);
	await expect.poll(() => server.query(jobs)).toEqual([]);
	// A process of this release that starts no longer creates them.
	await takeFrom(store, openHost(store));
	expect(
		await server.query("SELECT FROM pg_trigger WHERE tgname = 'will_be_due' AND tgrelid = $1::regclass", [
			`${schema}.sessions`,
		]),
	).toEqual([]);
});

test("simultaneous deadlines are all handed out, each once, however many", async () => {
	const host = openHost(store);
	await host.journal.head("any");
	const server = await testServer();
	const { schema } = store;
	const count = 600;
	await server.query(
		`INSERT INTO ${schema}.sessions (digest, key, incarnation, epoch, open_run, look_at, seq, last_kind, created_at, updated_at)
			SELECT md5('s' || n)::uuid, 's' || n, 'i', 1, 'r' || n, 1000, 1, 'waiting', 1, 1 FROM generate_series(1, ${count}) n`,
	);
	const taker = await takeFrom(store, host, {
		atOnce: 50,
		work: async (key) => {
			await server.query(`UPDATE ${schema}.sessions SET look_at = NULL WHERE digest = md5($1)::uuid`, [key]);
		},
	});
	taker.open();
	await expect.poll(() => taker.ended.length, { timeout: 60_000 }).toBeGreaterThanOrEqual(count);
	expect(new Set(taker.ended).size).toBe(count);
	expect(taker.ended.length).toBe(count);
	const left = `SELECT count(*)::int AS count FROM ${schema}_jobs.jobs`;
	await expect.poll(async () => (await server.query<{ count: number }>(left))[0]?.count).toBe(0);
});

test("failed work is handed out again", async () => {
	const host = openHost(store);
	let attempts = 0;
	const taker = await takeFrom(store, host, {
		work: async () => {
			if (++attempts === 1) throw new Error("not now");
		},
	});
	taker.open();
	await host.journal.submit("s", inputOf("go"));
	await expect.poll(() => taker.ended).toEqual(["s"]);
	expect(attempts).toBe(2);
});

test("a session of a namespace that a process does not serve goes to one that does", async () => {
	const host = openHost(store);
	const theirs = storeKeyOf("theirs", "s");
	let refused = 0;
	const other = await takeFrom(store, host, { isOurs: (key) => key !== theirs || ++refused < 0 });
	await host.journal.submit(theirs, inputOf("go"));
	await expect.poll(() => refused).toBeGreaterThan(0);
	// Soon: to whom it belongs may be there already.
	const server = await testServer();
	const waits = `SELECT extract(epoch FROM max(run_at - created_at))::float8 * 1000 AS wait FROM ${store.schema}_jobs._private_jobs
		WHERE attempts = 0`;
	await expect
		.poll(async () => (await server.query<{ wait: number | null }>(waits))[0]?.wait ?? 0)
		.toBeGreaterThan(0);
	expect((await server.query<{ wait: number }>(waits))[0]?.wait ?? 0).toBeLessThan(1_000);
	await other.stop();
	const taker = await takeFrom(store, openHost(store), { atOnce: 5 });
	taker.open();
	await expect.poll(() => taker.ended, { timeout: 90_000 }).toEqual([theirs]);
	expect(other.begun).toEqual([]);
});

test("a session that does not belong to a process goes to another one soon, without a failure", async () => {
	const host = openHost(store);
	const wrong = await takeFrom(store, host, { work: async () => "not-ours" });
	wrong.open();
	await host.journal.submit("theirs", inputOf("go"));
	await expect.poll(() => wrong.begun.length).toBeGreaterThan(0);
	const server = await testServer();
	const attempts = `SELECT max(attempts) AS most FROM ${store.schema}_jobs._private_jobs WHERE is_available`;
	await expect.poll(async () => (await server.query<{ most: number }>(attempts))[0]?.most).toBe(0);
	await wrong.stop();
	const taker = await takeFrom(store, openHost(store));
	taker.open();
	await expect.poll(() => taker.ended, { timeout: 90_000 }).toEqual(["theirs"]);
});

test("a process accepts no more than its capacity, and leaves the rest to others", async () => {
	const [one, two] = [openHost(store), openHost(store)];
	const first = await takeFrom(store, one, { atOnce: 2 });
	const keys = Array.from({ length: 6 }, (_, number) => `s${number}`);
	for (const key of keys) await two.journal.submit(key, inputOf(key));
	await expect.poll(() => first.begun.length).toBe(2);
	const second = await takeFrom(store, two, { atOnce: 2 });
	await expect.poll(() => second.begun.length).toBe(2);
	// More room in the same process.
	const third = await takeFrom(store, one, { atOnce: 1 });
	await expect.poll(() => first.begun.length + second.begun.length + third.begun.length).toBe(4);
	for (const taker of [first, second, third]) taker.open();
	await expect.poll(() => [...first.ended, ...second.ended, ...third.ended].toSorted()).toEqual(keys);
	expect(Math.max(first.most, second.most)).toBe(2);
	expect(third.most).toBeLessThanOrEqual(1);
});
