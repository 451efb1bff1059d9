// What `send` accepted is not lost: neither the turn that runs nor those that wait for it.
import { describe, expect, test } from "vitest";
import { expectNoOpenCalls, expectWellFormed, factsOf } from "./comparison.fixture.ts";
import type { Plan } from "./planned-model.fixture.ts";
import { makeWorld, named, type World } from "./world.fixture.ts";

const planned = (task: string, rounds: Plan["rounds"] = [[`lookup:${task}`]]): string =>
	JSON.stringify({ task, rounds });
const done = (task: string): string => `${task} is done: fact of ${task}.`;

async function inWorld(work: (world: World) => Promise<void>): Promise<void> {
	const world = await makeWorld();
	try {
		await work(world);
	} finally {
		await world.end();
	}
}

/** The texts that ended turns, in the order of the journal. */
async function answers(world: World): Promise<readonly string[]> {
	const entries = await world.entries();
	expectWellFormed(entries);
	expectNoOpenCalls(world.requests());
	return factsOf(entries, "assistant")
		.map(({ message }) => message.text)
		.filter((text) => text.includes("is done"));
}

describe("a process killed right after `send` resolved", () => {
	test("has its turn run by the next process", () =>
		inWorld(async (world) => {
			const killed = await world.run({ killAt: "sent 1", work: { send: [planned("one")] } });
			expect(killed.signal).toBe("SIGKILL");
			expect(named(killed, "result")).toEqual([]);
			const resumed = await world.run({ work: { resume: true } });
			expect(named(resumed, "result")).toMatchObject([{ outcome: "completed", text: done("one") }]);
		}));

	test("has the turns that waited run by the next process, in the order they were sent", () =>
		inWorld(async (world) => {
			const send = [planned("one"), planned("two"), planned("three")];
			const killed = await world.run({ killAt: "sent 3", work: { send } });
			expect(killed.signal).toBe("SIGKILL");
			const resumed = await world.run({ work: { resume: true } });
			expect(named(resumed, "failed")).toEqual([]);
			expect(await answers(world)).toEqual([done("one"), done("two"), done("three")]);
			const accepted = named(killed, "sent 1").concat(named(killed, "sent 2"), named(killed, "sent 3"));
			const started = (await world.entries()).filter(({ fact }) => fact.kind === "run.started");
			expect(started.map(({ runId }) => runId)).toEqual(accepted.map(({ runId }) => runId));
		}));

	test("has them run by `recover`, even if no run was open at its death", () =>
		inWorld(async (world) => {
			const send = [planned("one"), planned("two")];
			// Turn one: start, two for its step, its answer with its end. The next append would start turn two.
			const killed = await world.run({ killAt: "append 5 before", work: { send } });
			expect(killed.signal).toBe("SIGKILL");
			expect(await answers(world)).toEqual([done("one")]);
			const recovered = await world.run({ work: { recover: true } });
			expect(named(recovered, "failed")).toEqual([]);
			expect(await answers(world)).toEqual([done("one"), done("two")]);
		}));

	test("has them run before new messages of the next process", () =>
		inWorld(async (world) => {
			const killed = await world.run({ killAt: "sent 2", work: { send: [planned("one"), planned("two")] } });
			expect(killed.signal).toBe("SIGKILL");
			const next = await world.run({ work: { send: [planned("three")] } });
			expect(named(next, "result")).toMatchObject([{ outcome: "completed", text: done("three") }]);
			expect(await answers(world)).toEqual([done("one"), done("two"), done("three")]);
		}));
});

describe("waiting turns", () => {
	test.for([1, 2, 3, 4, 5, 6, 7, 8])(
		"are each run once and in order when the process is killed after append %i",
		(number) =>
			inWorld(async (world) => {
				const send = [planned("one"), planned("two")];
				const killed = await world.run({ killAt: `append ${number} after`, work: { send } });
				expect(killed.signal).toBe("SIGKILL");
				const accepted = killed.moments.filter(({ moment }) => moment.startsWith("sent ")).length;
				await world.run({ work: { resume: true } });
				const found = await answers(world);
				expect(found.length).toBeGreaterThanOrEqual(Math.max(1, accepted));
				expect(found).toEqual([done("one"), done("two")].slice(0, found.length));
			}),
	);
});

describe("a new agent, in its own process, for every turn", () => {
	test("shows the model the same as one agent that lives through all five [SES-115]", () =>
		inWorld(async (fresh) => {
			const turns = ["one", "two", "three", "four", "five"].map((task) =>
				planned(task, [[`lookup:${task}`, `record:${task}`], [`post:${task}`]]),
			);
			for (const turn of turns) {
				const ended = await fresh.run({ work: { send: [turn] } });
				expect(named(ended, "result")).toMatchObject([{ outcome: "completed" }]);
			}
			await inWorld(async (living) => {
				await living.run({ work: { send: turns, oneByOne: true } });
				expect(living.requests()).toHaveLength(15);
				expect(fresh.requests()).toEqual(living.requests());
			});
			expect(await answers(fresh)).toHaveLength(5);
		}));
});
