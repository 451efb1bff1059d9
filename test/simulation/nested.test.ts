// Sub-agents that wait for somebody outside, under a seeded scheduler.
import { expect, test } from "vitest";
import { perCommit, runSchedule, runSchedules, schedulesTimeout } from "./schedules.fixture.ts";

test(
	"what sub-agents wait for is answered once, and each of them ends with what asked for it",
	() => runSchedules("nested", perCommit),
	schedulesTimeout,
);

test.each([
	[908958583, "an answer to a run whose lease is lost fails with an error of its own"],
	[511622846, "a sub-agent that comes to wait while another process ends its parent ends with it"],
])("schedule %i holds: %s", async (seed) => {
	const { problem } = await runSchedule("nested", seed);
	expect(problem).toBeUndefined();
});
