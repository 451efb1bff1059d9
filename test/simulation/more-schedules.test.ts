// The other half of the schedules, in a file of its own so that two processes share the work.
import { test } from "vitest";
import { runSchedules, scheduleCount } from "./schedules.fixture.ts";

const minutes = 60_000;

test(
	"nothing is lost, doubled, stuck or emitted too early in the second half of the schedules",
	async () => {
		await runSchedules("memory", scheduleCount - Math.floor(scheduleCount / 2));
	},
	10 * minutes,
);
