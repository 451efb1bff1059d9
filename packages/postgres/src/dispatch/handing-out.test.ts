// What is handed out, when, to whom, and how many at once.
import { scriptedModel } from "@holdfast/testing";
import { Agent } from "holdfast";
import { storeKeyOf } from "holdfast/execute";
import { expect, test } from "vitest";
import { inputOf, openHost, storeOfEachTest, takeFrom } from "./dispatch.fixture.ts";

const store = storeOfEachTest();

test("a run that waits is handed out when its deadline comes, and not before", async () => {
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

test("what fails is handed out again", async () => {
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

test("a session of a namespace that a process does not work on goes to one that does", async () => {
	const host = openHost(store);
	const theirs = storeKeyOf("theirs", "s");
	let refused = 0;
	const other = await takeFrom(store, host, { isOurs: (key) => key !== theirs || ++refused < 0 });
	await host.journal.submit(theirs, inputOf("go"));
	await expect.poll(() => refused).toBeGreaterThan(0);
	await other.stop();
	const taker = await takeFrom(store, openHost(store), { atOnce: 5 });
	taker.open();
	await expect.poll(() => taker.ended, { timeout: 90_000 }).toEqual([theirs]);
	expect(other.begun).toEqual([]);
});

test("a process takes no more than it has room for, and leaves the rest to others", async () => {
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
