// Schedules in a file of their own, so that two processes share the work: with work in the background, of which few worlds
// have any by themselves.
import { test } from "vitest";
import { perCommit, runSchedules, schedulesTimeout } from "./schedules.fixture.ts";

test(
	"nothing is lost, duplicated, stuck or reported twice when sub-agents work in the background",
	() => runSchedules("background", perCommit),
	schedulesTimeout,
);
