// A run that is left on purpose: its session is free at once, and its resume is not reported as a crash.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { expectNoOpenCalls, expectWellFormed, factsOf } from "./comparison.fixture.ts";
import { makeWorld, named, type World } from "./world.fixture.ts";

const rounds = [["lookup:a"], ["wait:b"], ["post:c"], ["lookup:d"]];
const input = JSON.stringify({ task: "one", rounds });
const text = "one is done: fact of a, fact of b, receipt 1, fact of d.";

let world: World;
beforeEach(async () => {
	world = await makeWorld();
});
afterEach(() => world.end());

/** Another process, while the first may still live, finishes the run. */
async function expectResumable(): Promise<void> {
	const second = world.start({ work: { resume: true } });
	second.say("continue");
	const resumed = await second.ended;
	expect(named(resumed, "failed")).toEqual([]);
	expect(named(resumed, "result")).toMatchObject([{ outcome: "completed", text }]);
	const entries = await world.entries();
	expectWellFormed(entries);
	expectNoOpenCalls(world.requests());
	expect(factsOf(entries, "run.resumed")).toMatchObject([{ attempt: 2, reason: "suspended" }]);
	expect(factsOf(entries, "tool.settled").every(({ outcome }) => outcome === "done")).toBe(true);
}

describe("a run that is left on purpose", () => {
	test.for([
		"model 1 asked",
		"model 2 half said",
		"append 4 after",
		"append 5 after",
		"append 7 after",
		"wait b entered",
	])(
		'by suspend() at "%s" continues in another process, as suspended and not as crashed',
		async (suspendAt) => {
			const left = world.start({ suspendAt, work: { send: [input] } });
			if (suspendAt !== "wait b entered") left.say("continue");
			const ended = await left.ended;
			expect(named(ended, "result")).toMatchObject([{ outcome: "suspended", error: "run_suspended" }]);
			expect(ended.code).toBe(0);
			await expectResumable();
		},
	);

	test("by suspend() continues in another process while the first one lives", async () => {
		const first = world.start({ suspendAt: "wait b entered", keepAlive: true, work: { send: [input] } });
		expect(await first.reached("result")).toMatchObject({ outcome: "suspended" });
		await expectResumable();
		expect(first.child.exitCode).toBeNull();
		first.say("end");
		await first.ended;
	});

	test("by close() continues in another process, and so do the waiting turns", async () => {
		const second = JSON.stringify({ task: "two", rounds: [["lookup:e"]] });
		const ended = await world.run({ closeAt: "wait b entered", work: { send: [input, second] } });
		expect(named(ended, "result").map(({ outcome, error }) => [outcome, error])).toEqual([
			["suspended", "run_suspended"],
			["suspended", "run_suspended"],
		]);
		const resumed = await world.run({ work: { resume: true } });
		expect(named(resumed, "failed")).toEqual([]);
		const entries = await world.entries();
		expectWellFormed(entries);
		const answers = factsOf(entries, "assistant").map(({ message }) => message.text);
		expect(answers.filter((answer) => answer.includes("done"))).toEqual([text, "two is done: fact of e."]);
		expect(factsOf(entries, "run.resumed")).toMatchObject([{ attempt: 2, reason: "suspended" }]);
	});
});
