// Sub-agents that wait for somebody outside, under a seeded scheduler.
import { expect, test } from "vitest";
import { perCommit, report, runSchedule, runSchedules, schedulesTimeout } from "./schedules.fixture.ts";

test(
	"waiting calls of sub-agents are answered once, and each sub-agent ends with its caller",
	() => runSchedules("nested", perCommit),
	schedulesTimeout,
);

test.each([
	[908958583, "an answer to a run whose lease is lost fails with an error of its own"],
	[657184747, "a sub-agent that waits ends although the process died that ended its parent"],
	[31001270, "an answer comes from another process for a run that is interrupted before it takes it"],
	[511622846, "a sub-agent that comes to wait while another process ends its parent ends with it"],
])("schedule %i holds: %s", async (seed) => {
	const { problem } = await runSchedule("nested", seed);
	expect(problem).toBeUndefined();
});

test("schedule 51000136 holds over SQLite: leftovers of a sub-agent end together with its own sub-agents", async () => {
	const result = await runSchedule("nestedInSqlite", 51_000_136);
	expect(result.problem, report("nestedInSqlite", result)).toBeUndefined();
});
