// Sub-agents that wait for somebody outside, under a seeded scheduler.
import { test } from "vitest";
import { perCommit, runSchedules, schedulesTimeout } from "./schedules.fixture.ts";

test(
	"what sub-agents wait for is answered once, and each of them ends with what asked for it",
	() => runSchedules("nested", perCommit),
	schedulesTimeout,
);
