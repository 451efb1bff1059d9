// Workflows under a seeded scheduler. HOLDFAST_FIRST_SEED names the first seed, to run the same ones again.
import { describe, expect, test } from "vitest";
import { firstSeed, perCommit, schedulesTimeout } from "./schedules.fixture.ts";
import { searchedFrom, type WorkflowFault, workflowFaults } from "./workflow-faults.fixture.ts";
import { runWorkflowsWorld } from "./workflows-world.fixture.ts";

const count = Math.ceil(perCommit / 4);

test(
	"random programs of steps, waits, events, approvals, children and rounds have their results, whatever dies",
	async () => {
		const from = firstSeed("workflows", count);
		for (let seed = from; seed < from + count; seed++)
			expect([seed, await runWorkflowsWorld(seed)]).toEqual([seed, undefined]);
	},
	schedulesTimeout,
);

describe("the checks detect that", () => {
	test.each(Object.entries(workflowFaults) as [WorkflowFault, string][])(
		"%s: %s",
		async (fault) => {
			let found: string | undefined;
			const from = searchedFrom[fault];
			for (let seed = from; seed < from + 400 && found === undefined; seed++)
				found = await runWorkflowsWorld(seed, fault);
			expect(found).toBeDefined();
			console.log(`${fault}: ${found}`);
		},
		schedulesTimeout,
	);
});
