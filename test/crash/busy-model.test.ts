// A provider that asks to slow down: the run waits, its process dies at any moment of it, and another process continues
// when it is due, as the run left alone would have.
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { expectNoOpenCalls, expectWellFormed, factsOf } from "./comparison.fixture.ts";
import { type Ended, makeWorld, named, type World } from "./world.fixture.ts";

const input = JSON.stringify({ task: "one", rounds: [["lookup:a"], ["post:b"]] });
const text = "one is done: fact of a, receipt 1.";
/** Long enough for a process to start before it is over. */
const busyMs = 3_000;

let world: World;
beforeEach(async () => {
	world = await makeWorld();
});
afterEach(() => world.end());

/** A process that does what is due, until the run is over. */
async function finishes(): Promise<Ended> {
	const worker = world.start({ work: { whatever: true } });
	await worker.reached("result");
	worker.say("end");
	return worker.ended;
}

async function expectFinished(ended: Ended): Promise<void> {
	expect(named(ended, "result")).toMatchObject([{ outcome: "completed", text }]);
	const entries = await world.entries();
	expectWellFormed(entries);
	expectNoOpenCalls(world.requests());
	expect([...world.received().values()]).toEqual([1]);
	expect(factsOf(entries, "run.ended")).toMatchObject([{ outcome: "completed" }]);
}

/** When the wait was recorded as over, and until when it was to be. */
async function waited(): Promise<{ readonly endedAt: number; readonly until: number }> {
	const entries = await world.entries();
	const waiting = factsOf(entries, "waiting").at(-1);
	const ended = entries.find(({ fact }) => fact.kind === "wait.ended");
	return { endedAt: ended?.at ?? 0, until: waiting?.wait?.until ?? Number.POSITIVE_INFINITY };
}

describe("a run whose model is busy", () => {
	test("waits while its process is killed, and another one continues when it is due", async () => {
		const first = world.start({ work: { send: [input] }, busyMs, keepAlive: true });
		expect(await first.reached("result")).toMatchObject({ outcome: "waiting" });
		first.child.kill("SIGKILL");
		await first.ended;
		await expectFinished(await finishes());
		const { endedAt, until } = await waited();
		expect(endedAt).toBeGreaterThanOrEqual(until);
		expect(factsOf(await world.entries(), "run.resumed")).toMatchObject([{ attempt: 2, reason: "answered" }]);
	});

	test("continues by itself in its own process", async () => {
		const first = world.start({ work: { send: [input] }, busyMs: 1_000, keepAlive: true });
		await first.reached("result");
		// Busy again, and again: its waits grow, and it never ends.
		while ((await world.entries()).filter(({ fact }) => fact.kind === "waiting").length < 2) await pause(100);
		expect(factsOf(await world.entries(), "run.ended")).toEqual([]);
		first.say("end");
		await first.ended;
		await expectFinished(await finishes());
	});

	test("is stopped while it waits, and its model is not called again", async () => {
		const first = world.start({ work: { send: [input] }, busyMs: 500, keepAlive: true });
		await first.reached("result");
		first.child.kill("SIGKILL");
		await first.ended;
		const asked = world.requests().length;
		const stopping = await world.run({ work: { stop: true } });
		expect(named(stopping, "stopped")).toMatchObject([{ stopped: true }]);
		const worker = world.start({ work: { whatever: true } });
		await worker.reached("ready");
		await pause(1_500);
		worker.say("end");
		await worker.ended;
		expect(world.requests()).toHaveLength(asked);
		expect(factsOf(await world.entries(), "run.ended")).toMatchObject([{ outcome: "aborted" }]);
	});

	test.for(["model 1 busy", "append 2 before", "append 2 after"])(
		'and whose process dies at "%s" loses nothing',
		async (killAt) => {
			const { signal } = await world.run({ work: { send: [input] }, busyMs: 1_000, killAt });
			expect(signal).toBe("SIGKILL");
			await expectFinished(await finishes());
		},
	);

	test.for(["append 1 before", "append 1 after", "model 1 asked"])(
		'and whose next process dies when it is due, at "%s", is continued by the one after that',
		async (killAt) => {
			const first = world.start({ work: { send: [input] }, busyMs: 1_000, keepAlive: true });
			await first.reached("result");
			first.child.kill("SIGKILL");
			await first.ended;
			const { signal } = await world.run({ work: { whatever: true }, killAt });
			expect(signal).toBe("SIGKILL");
			await expectFinished(await finishes());
			expect(factsOf(await world.entries(), "wait.ended")).toHaveLength(1);
		},
	);
});
