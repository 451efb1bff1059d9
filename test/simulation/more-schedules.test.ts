// The other schedules, in a file of its own so that two processes share the work: one part of them is of any
// kind, the other has work in the background, of which few worlds have any by themselves. One of those takes 1.7 times as long.
import { test } from "vitest";
import { runSchedules, scheduleCount } from "./schedules.fixture.ts";

const minutes = 60_000;

test(
	"nothing is lost, doubled, stuck or emitted too early in further schedules",
	async () => {
		await runSchedules("memory", Math.ceil(scheduleCount / 6));
	},
	10 * minutes,
);

test(
	"nothing is lost, doubled, stuck or reported twice where sub-agents work in the background",
	async () => {
		await runSchedules("background", Math.ceil(scheduleCount / 5));
	},
	10 * minutes,
);
