// Two processes on one file: a session continues elsewhere when its process dies or hangs, and only then.
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { expectNoOpenCalls, expectWellFormed, factsOf } from "./comparison.fixture.ts";
import type { Plan } from "./planned-model.fixture.ts";
import { slowness } from "./slowness.fixture.ts";
import { type Ended, makeWorld, named, type World } from "./world.fixture.ts";

const planned = (task: string, rounds: Plan["rounds"]): string => JSON.stringify({ task, rounds });
/** Milliseconds after which a process that does not move counts as dead. */
const leaseTtlMs = 600;

let world: World;
beforeEach(async () => {
	world = await makeWorld();
});
afterEach(() => world.end());

/** The tasks in the order their runs were started. */
async function tasks(): Promise<readonly string[]> {
	const entries = await world.entries();
	expectWellFormed(entries);
	expectNoOpenCalls(world.requests());
	return factsOf(entries, "input").map(({ message }) => {
		const [part] = (message as unknown as { content: readonly { text: string }[] }).content;
		return (JSON.parse(part?.text ?? "{}") as Plan).task;
	});
}

describe("a process that is killed", () => {
	test("has its run taken over in under two seconds by one that waits for its turn", async () => {
		const first = world.start({ work: { send: [planned("one", [["lookup:a"], ["wait:b"]])] } });
		await first.reached("wait b entered");
		const second = world.start({ work: { send: [planned("two", [["lookup:c"]])] } });
		await second.reached("sent 1");
		const killedAt = performance.now();
		first.child.kill("SIGKILL");
		// The taken-over run starts with its first append in the second process.
		await second.reached("append 1 after");
		expect(performance.now() - killedAt).toBeLessThan(2_000 * slowness());
		const ended = await second.ended;
		expect(named(ended, "result")).toMatchObject([{ outcome: "completed", text: "two is done: fact of c." }]);
		expect(await tasks()).toEqual(["one", "two"]);
		expect(factsOf(await world.entries(), "run.resumed")).toMatchObject([{ attempt: 2, reason: "crash" }]);
	});

	test("has its run found by another's `recover` in under two seconds, long before its lease expires", async () => {
		const first = world.start({ work: { send: [planned("one", [["lookup:a"], ["wait:b"]])] } });
		await first.reached("wait b entered");
		const second = world.start({ work: { recover: true, atLine: true } });
		await second.reached("ready");
		const killedAt = performance.now();
		first.child.kill("SIGKILL");
		await first.ended;
		second.say("look");
		await second.reached("recovering");
		expect(performance.now() - killedAt).toBeLessThan(2_000 * slowness());
		const ended = await second.ended;
		expect(named(ended, "result")).toMatchObject([
			{ outcome: "completed", text: "one is done: fact of a, fact of b." },
		]);
		expect(await tasks()).toEqual(["one"]);
	});

	test("has its run taken over once, regardless of how many search for it", async () => {
		const first = world.start({ work: { send: [planned("one", [["lookup:a"], ["wait:b"]])] } });
		await first.reached("wait b entered");
		first.child.kill("SIGKILL");
		await first.ended;
		const others = await Promise.all(
			[1, 2, 3].map((number) => world.run({ work: number === 3 ? { resume: true } : { recover: true } })),
		);
		expect(others.flatMap((ended) => named(ended, "result"))).toHaveLength(1);
		const codes = others.flatMap((ended) => named(ended, "failed").map(({ code }) => code));
		expect(codes.every((code) => code === "session_held")).toBe(true);
		expect(factsOf(await world.entries(), "run.resumed")).toHaveLength(1);
		expect(await tasks()).toEqual(["one"]);
	});
});

describe("a process that is stopped", () => {
	test.for(["its tool still runs", "its tool ends"])(
		"is taken over when its lease expires; it continues, %s, and commits nothing [SES-101]",
		async (then) => {
			const host = { leaseTtlMs };
			const first = world.start({ host, work: { send: [planned("one", [["wait:a"], ["lookup:b"]])] } });
			await first.reached("wait a entered");
			first.child.kill("SIGSTOP");
			const second = await world.run({ host, work: { send: [planned("two", [["lookup:c"]])] } });
			expect(named(second, "result")).toMatchObject([{ outcome: "completed" }]);
			const [entries, asked] = [await world.entries(), world.requests().length];
			if (then === "its tool ends") first.say("continue");
			first.child.kill("SIGCONT");
			// Seen by its signal, not by its own end.
			await first.reached("wait a aborted");
			first.say("continue");
			const woken = await first.ended;
			expect(named(woken, "result")).toMatchObject([{ outcome: "suspended", error: "lease_lost" }]);
			expect(await world.entries()).toEqual(entries);
			expect(world.requests()).toHaveLength(asked);
			expect(await tasks()).toEqual(["one", "two"]);
		},
	);

	test("does not run again the turns that waited for its run", async () => {
		const host = { leaseTtlMs };
		const send = [planned("one", [["wait:a"]]), planned("two", [["lookup:b"]])];
		const first = world.start({ host, work: { send } });
		await Promise.all([first.reached("sent 2"), first.reached("wait a entered")]);
		first.child.kill("SIGSTOP");
		await world.run({ host, work: { send: [planned("three", [["lookup:c"]])] } });
		first.say("continue");
		first.child.kill("SIGCONT");
		const woken = await first.ended;
		expect(named(woken, "result").map(({ error }) => error)).toEqual(["lease_lost", "lease_lost"]);
		expect(await tasks()).toEqual(["one", "two", "three"]);
	});
});

describe("a process that is busy for longer than its lease", () => {
	test.for(["at once", "after its heart began to beat"])(
		"keeps its session and commits, busy %s [SES-100]",
		async (when) => {
			const host = { leaseTtlMs: 1_000 };
			const rounds = [...(when === "at once" ? [] : [["wait:a"]]), ["spin:free"], ["lookup:b"]];
			const first = world.start({ host, work: { send: [planned("one", rounds)] } });
			if (when !== "at once") {
				await first.reached("wait a entered");
				await pause(host.leaseTtlMs / 2); // its heart begins to beat some time after the lease was taken
				first.say("continue");
			}
			await first.reached("spin free entered");
			await pause(3 * host.leaseTtlMs);
			const second = await world.run({ host, work: { resume: true } });
			expect(named(second, "failed")).toMatchObject([{ code: "session_held" }]);
			world.makeFile("free");
			const ended = await first.ended;
			expect(named(ended, "result")).toMatchObject([{ outcome: "completed" }]);
			expect(factsOf(await world.entries(), "run.resumed")).toEqual([]);
			expect(await tasks()).toEqual(["one"]);
		},
	);
});

describe("two living processes", () => {
	test("take turns on one session and never mix their runs", async () => {
		const work = (name: string): readonly string[] =>
			[1, 2, 3, 4].map((number) => planned(`${name}${number}`, [["lookup:x"], ["post:y"]]));
		const send = [planned("a1", [["wait:x"]]), ...work("a").slice(1)];
		const processes = [world.start({ work: { send, oneByOne: true } })];
		await processes[0]?.reached("wait x entered");
		processes.push(world.start({ work: { send: work("b"), oneByOne: true } }));
		await processes[1]?.reached("sent 1");
		processes[0]?.say("continue");
		const [first, second] = (await Promise.all(processes.map(({ ended }) => ended))) as [Ended, Ended];
		for (const ended of [first, second]) {
			expect(named(ended, "result").map(({ outcome }) => outcome)).toEqual(Array(4).fill("completed"));
		}
		const entries = await world.entries();
		const changes = entries.filter(({ runId }, index) => runId !== entries[index - 1]?.runId);
		expect(changes.every(({ fact }) => fact.kind === "run.started")).toBe(true);
		const order = await tasks();
		for (const name of ["a", "b"]) {
			expect(order.filter((task) => task.startsWith(name))).toEqual([1, 2, 3, 4].map((n) => `${name}${n}`));
		}
		// Neither has to wait until the other is through with all of its own.
		expect(order.indexOf("b1")).toBeLessThan(order.indexOf("a4"));
	});

	test("do not run what the other has already run", async () => {
		const first = world.start({ work: { send: [planned("one", [["wait:a"]])] } });
		await first.reached("wait a entered");
		const second = world.start({ work: { send: [planned("two", [["wait:b"]])] } });
		await second.reached("sent 1");
		first.say("continue");
		await first.ended;
		await second.reached("wait b entered");
		const third = world.start({ work: { send: [planned("three", [["lookup:c"]])] } });
		await third.reached("sent 1");
		second.say("continue");
		await Promise.all([second.ended, third.ended]);
		expect(await tasks()).toEqual(["one", "two", "three"]);
	});
});
