// Scripts of code mode under a seeded scheduler. HOLDFAST_FIRST_SEED names the first seed, to run the same ones again.
import { afterAll, describe, expect, test } from "vitest";
import { firstSeed, perCommit, schedulesTimeout } from "./schedules.fixture.ts";
import { closeScripts, runScriptsWorld, type ScriptFault, scriptFaults } from "./scripts-world.fixture.ts";

afterAll(closeScripts);
const count = Math.ceil(perCommit / 8);

test(
	"random scripts of calls, approvals and failures have their results, whatever dies",
	async () => {
		const from = firstSeed("scripts", count);
		for (let seed = from; seed < from + count; seed++)
			expect([seed, await runScriptsWorld(seed)]).toEqual([seed, undefined]);
	},
	schedulesTimeout,
);

test.each([4, 635_914_159])(
	"seed %i holds, in which a worker takes over a script with two stored answers",
	async (seed) => {
		expect(await runScriptsWorld(seed)).toBeUndefined();
	},
	schedulesTimeout,
);

describe("the checks detect that", () => {
	test.each(Object.entries(scriptFaults) as [ScriptFault, string][])(
		"%s: %s",
		async (fault) => {
			let found: string | undefined;
			for (let seed = 1; seed <= 40 && found === undefined; seed++)
				found = await runScriptsWorld(seed, fault);
			expect(found).toBeDefined();
			console.log(`${fault}: ${found}`);
		},
		schedulesTimeout,
	);
});
