// The engine and its sessions under a seeded scheduler: schedules over the store in memory, and that a seed replays.
// HOLDFAST_SCHEDULES changes how many there are, HOLDFAST_SEED and HOLDFAST_WORLD replay one and print what happened.
import { createHash } from "node:crypto";
import { simulate } from "@holdfast/testing";
import { expect, test } from "vitest";
import {
	perCommit,
	replayed,
	report,
	runSchedule,
	runSchedules,
	schedulesTimeout,
} from "./schedules.fixture.ts";

async function hashOf(seed: number): Promise<string> {
	const { trace, problem } = await simulate({ seed });
	return createHash("sha256")
		.update([...trace, problem].join("\n"))
		.digest("hex");
}

test("a seed replays exactly: the same trace to the last line", async () => {
	const seeds = Array.from({ length: 40 }, (_, at) => at + 1);
	const first: string[] = [];
	for (const seed of seeds) first.push(await hashOf(seed));
	const again: string[] = [];
	for (const seed of seeds.toReversed()) again.unshift(await hashOf(seed));
	expect(again).toEqual(first);
	// In some worlds next to nothing happens, and those are alike.
	expect(new Set(first).size).toBeGreaterThan(0.9 * seeds.length);
});

test("a schedule has the given number of events, and only the allowed faults", async () => {
	const quiet = await simulate({ seed: 5, steps: 3, faults: [] });
	const lively = await simulate({ seed: 5, steps: 60 });
	expect(quiet).toMatchObject({ ok: true, seed: 5 });
	expect(lively.trace.length).toBeGreaterThan(quiet.trace.length);
	expect(quiet.trace.filter((line) => /the world: (crash|stop|lapse|clock|store)/.test(line))).toEqual([]);
});

test.each([
	[501_203, "a steer came to its end while its session was killed"],
	[
		245_125_438,
		"a run learns of work that is over from its first input, and all who look on see both in order",
	],
	[
		765_942_146,
		"a notification began a run of a session that was deleted, and the session made anew does not get it again",
	],
	[
		835_035_605,
		"a run learns of work that is over while this process still follows it, and what it finds then is no update",
	],
	[4_353, "a session is made for a notification while a worker that saw none of its key looks for it"],
	[
		838_933_934,
		"the store fails under who follows work in the background, and a recovery follows it to its end before",
	],
	[926_920_079, "the store fails as work in the background begins, and its end is reported after all"],
])("seed %i holds, in which %s", async (seed) => {
	const result = await runSchedule("memory", seed);
	expect(result.ok, report("memory", result)).toBe(true);
});

test.each([
	[938_158_643, "a task in the background is parked after its workers lost it twice, and stays so"],
	[231_125_289, "an answer for a run that has ended comes with one for a task in the background"],
	[71_397_592, "work is queued behind a wait that another worker is answered for"],
])("seed %i holds with background work, in which %s", async (seed) => {
	const result = await runSchedule("background", seed);
	expect(result.ok, report("background", result)).toBe(true);
});

test.runIf(replayed !== undefined)("replays the seed of HOLDFAST_SEED", async () => {
	const { world, seed } = replayed ?? { world: "memory", seed: 0 };
	const result = await runSchedule(world, seed);
	console.log(result.trace.join("\n"));
	expect(result.ok, report(world, result)).toBe(true);
});

test(
	"nothing is lost, duplicated, stuck or emitted too early in schedules of any kind",
	() => runSchedules("memory", perCommit),
	schedulesTimeout,
);
