// The engine and its sessions under a seeded scheduler over the stores that are not in memory.
import { expect, test } from "vitest";
import { perCommit, report, runSchedule, runSchedules, schedulesTimeout } from "./schedules.fixture.ts";

test.each([
	["a SQLite file", "sqlite"],
	["a bare session store", "bare"],
] as const)(
	"nothing is lost, duplicated, stuck or emitted too early over %s",
	(_store, world) => runSchedules(world, perCommit),
	schedulesTimeout,
);

test.each([
	[13, "a process wakes"],
	[237_660_135, "a process wakes"],
	[434_898_367, "another worker begins a turn that is on its way into the inbox here"],
])("seed %i holds over a SQLite file, in which %s", async (seed) => {
	const result = await runSchedule("sqlite", seed);
	expect(result.ok, report("sqlite", result)).toBe(true);
});

test.each([
	[705_155_283, "two workers follow a task that one of them was answered for"],
	[806_254_215, "workers take a parent from each other whose sub-agents wait for their turn"],
])("seed %i holds over a plain session store, in which %s", async (seed) => {
	const result = await runSchedule("bare", seed);
	expect(result.ok, report("bare", result)).toBe(true);
});

test.each(["sqlite", "bare"] as const)("a seed replays exactly: %s", async (world) => {
	for (const seed of [1, 2, 3, 4, 5]) {
		const [first, again] = [await runSchedule(world, seed), await runSchedule(world, seed)];
		expect(again.trace).toEqual(first.trace);
		expect(first.trace.length).toBeGreaterThan(1);
	}
});
