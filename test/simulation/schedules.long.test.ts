// The schedules of the longer run, of each world.
import { afterAll, expect, test } from "vitest";
import { firstWrong } from "./runner-world.fixture.ts";
import { firstSeed, inLongerRun, runSchedules, schedulesTimeout } from "./schedules.fixture.ts";
import { closeScripts, runScriptsWorld } from "./scripts-world.fixture.ts";
import { runWorkflowsWorld } from "./workflows-world.fixture.ts";

test.each([
	["memory", 1_200],
	["background", 500],
	["nested", 500],
	["nestedInSqlite", 150],
	["sqlite", 300],
	["bare", 250],
	["threads", 350],
] as const)(
	"nothing is lost, duplicated, stuck or emitted too early in further schedules (%s)",
	(world, count) => runSchedules(world, inLongerRun(count)),
	schedulesTimeout,
);

test(
	"no effect lacks its plan, audit record and start in further schedules (runner)",
	async () => {
		const count = inLongerRun(1_000);
		expect(await firstWrong(firstSeed("runner", count), count)).toBeUndefined();
	},
	schedulesTimeout,
);

test(
	"programs of workflows have their results in further schedules",
	async () => {
		const count = inLongerRun(800);
		const from = firstSeed("workflows", count);
		for (let seed = from; seed < from + count; seed++)
			expect([seed, await runWorkflowsWorld(seed)]).toEqual([seed, undefined]);
	},
	schedulesTimeout,
);

afterAll(closeScripts);

test(
	"scripts of code mode have their results in further schedules",
	async () => {
		const count = inLongerRun(100);
		const from = firstSeed("scripts", count);
		for (let seed = from; seed < from + count; seed++)
			expect([seed, await runScriptsWorld(seed)]).toEqual([seed, undefined]);
	},
	schedulesTimeout,
);
