// Accountable agents under a seeded scheduler. HOLDFAST_FIRST_SEED names the first seed, to run the same ones again.
import { describe, expect, test } from "vitest";
import { firstWrong, type RunnerFault, runRunnerWorld } from "./runner-world.fixture.ts";
import { firstSeed, perCommit, schedulesTimeout } from "./schedules.fixture.ts";

test(
	"killed between plan, audit and act: no effect lacks its plan, audit record and start, and no answer is requested twice [RUN-034] [RUN-126]",
	async () => {
		expect(await firstWrong(firstSeed("runner", perCommit), perCommit)).toBeUndefined();
	},
	schedulesTimeout,
);

test("a seed replays exactly", async () => {
	for (const seed of [1, 2, 3, 4, 5]) {
		const { trace } = await runRunnerWorld(seed);
		expect((await runRunnerWorld(seed)).trace).toEqual(trace);
		expect(trace.length).toBeGreaterThan(20);
	}
});

describe("the checks detect that", () => {
	const faults: Readonly<Record<RunnerFault, readonly [what: string, problem: RegExp]>> = {
		"acknowledged-before-commit": ["an append is acknowledged before it is committed", /no plan of it/],
		"audit-not-committed": ["an append lacks its audit record", /with the audit records ""/],
		"audit-apart": ["an audit record has an append of its own", /without what it is of/],
		"audit-not-sent": ["the sink keeps nothing", /the sink has not its audit record/],
		"planned-again": ["a step is asked for that is planned", /asked for again/],
	};
	test.each(Object.entries(faults) as [RunnerFault, (typeof faults)[RunnerFault]][])(
		"%s: %s",
		async (fault, [, problem]) => {
			expect(await firstWrong(1, 20, fault)).toMatch(problem);
		},
	);
});
