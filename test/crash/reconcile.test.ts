// A process died inside a call that must not be repeated: what became of it is found out, where the tool knows how.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { expectNoOpenCalls, expectWellFormed, factsOf } from "./comparison.fixture.ts";
import { makeWorld, named, type World } from "./world.fixture.ts";

let world: World;
beforeEach(async () => {
	world = await makeWorld();
});
afterEach(() => world.end());

/** Kills a process at a moment of its call of `tool`, and resumes. Gives what the call came to. */
async function recovered(
	tool: string,
	killAt: string,
): Promise<{ outcome: string; result: unknown; isError: boolean }> {
	const input = JSON.stringify({ task: "one", rounds: [["lookup:a", `${tool}:b`], ["lookup:c"]] });
	const killed = await world.run({ killAt: `${tool} b ${killAt}`, work: { send: [input] } });
	expect(killed.signal).toBe("SIGKILL");
	const resumed = await world.run({ work: { resume: true } });
	expect(named(resumed, "result")).toMatchObject([{ outcome: "completed" }]);
	const entries = await world.entries();
	expectWellFormed(entries);
	expectNoOpenCalls(world.requests());
	const settled = factsOf(entries, "tool.settled").find(({ callId }) => callId === "one-1-2");
	const shown = world
		.requests()
		.at(-1)
		?.messages.flatMap(({ results = [] }) => results);
	const seen = shown?.find(({ id }) => id === "one-1-2");
	return { outcome: String(settled?.outcome), result: seen?.result, isError: seen?.isError === true };
}

describe("reconcile, after a crash inside the call", () => {
	test("finds the result: the effect happened once, and the model gets the result", async () => {
		expect(await recovered("record-checked", "effected")).toEqual({
			outcome: "done",
			result: "recorded, as was found out",
			isError: false,
		});
		expect(world.effects()).toHaveLength(1);
	});

	test("finds that it never happened: the call runs again with the same key", async () => {
		expect(await recovered("record-checked", "entered")).toEqual({
			outcome: "done",
			result: "recorded b",
			isError: false,
		});
		const [key] = (world.effects()[0] ?? "").split(" ");
		const started = factsOf(await world.entries(), "tool.started").filter(
			({ callId }) => callId === "one-1-2",
		);
		expect(started.map(({ attempt, idempotencyKey }) => [attempt, idempotencyKey])).toEqual([
			[1, key],
			[2, key],
		]);
	});

	test("finds an error: the model gets it, and nothing runs again", async () => {
		expect(await recovered("record-failed", "entered")).toEqual({
			outcome: "error",
			result: "the line was refused",
			isError: true,
		});
		expect(world.effects()).toEqual([]);
	});

	test("finds nothing: the outcome is unknown, and nothing runs again", async () => {
		const { outcome, result, isError } = await recovered("record-unclear", "effected");
		expect([outcome, isError]).toEqual(["unknown", true]);
		expect(result).toMatch(/outcome of this call is unknown/);
		expect(world.effects()).toHaveLength(1);
	});

	test("fails itself: the outcome is unknown, and the model sees why", async () => {
		const { outcome, result, isError } = await recovered("record-unreachable", "effected");
		expect([outcome, isError]).toEqual(["unknown", true]);
		expect(result).toMatch(/outcome of this call is unknown.*nobody answers/s);
		expect(world.effects()).toHaveLength(1);
	});

	test("is called again if the process dies right after it was called", async () => {
		const input = JSON.stringify({ task: "one", rounds: [["record-checked:b"]] });
		await world.run({ killAt: "record-checked b effected", work: { send: [input] } });
		const killed = await world.run({ killAt: "reconcile asked", work: { resume: true } });
		expect(killed.signal).toBe("SIGKILL");
		const resumed = await world.run({ work: { resume: true } });
		const asked = [killed, resumed].map((each) =>
			named(each, "reconcile asked").map((moment) => moment.idempotencyKey),
		);
		expect(asked[0]).toHaveLength(1);
		expect(asked[1]).toEqual(asked[0]);
		expect(named(resumed, "result")).toMatchObject([{ outcome: "completed" }]);
		expect(world.effects()).toHaveLength(1);
	});
});
