// Threads under a seeded scheduler. HOLDFAST_FIRST_SEED names the first seed, to run the same ones again.
import { describe, expect, test } from "vitest";
import { perCommit, runSchedules, schedulesTimeout } from "./schedules.fixture.ts";
import { type ThreadsFault, threadsFaults } from "./threads-host.fixture.ts";
import { runThreadsWorld } from "./threads-world.fixture.ts";

async function firstWrong(from: number, count: number, planted: ThreadsFault): Promise<string | undefined> {
	for (let seed = from; seed < from + count; seed++) {
		const { problem } = await runThreadsWorld(seed, planted);
		if (problem !== undefined) return problem;
	}
	return undefined;
}

test(
	"killed between any two writes, threads lose no message, repeat nothing, and end as they do alone",
	() => runSchedules("threads", perCommit),
	schedulesTimeout,
);

test("a seed replays exactly", async () => {
	for (const seed of [1, 2, 3]) {
		const { trace } = await runThreadsWorld(seed);
		expect((await runThreadsWorld(seed)).trace).toEqual(trace);
		expect(trace.length).toBeGreaterThan(50);
	}
});

describe("the checks detect that", () => {
	test.each(Object.entries(threadsFaults) as [ThreadsFault, string][])("%s: %s", async (fault) => {
		expect(await firstWrong(25, 400, fault)).toBeDefined();
	});
});
