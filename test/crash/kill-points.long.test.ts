// A real process is killed before and after every append of a run, and once more while it recovers.
import { beforeAll, describe, expect, test } from "vitest";
import { expectNoOpenCalls, expectWellFormed, traceOf } from "./comparison.fixture.ts";
import {
	entriesAfter,
	expectKilledAt,
	expectResumed,
	inWorld,
	kill,
	numbers,
	resumeAndCompare,
	runAlone,
} from "./kill-points.fixture.ts";
import type { Plan } from "./planned-model.fixture.ts";
import { named } from "./world.fixture.ts";

beforeAll(runAlone);

describe("a process killed around an append", () => {
	test.concurrent.for(numbers.slice(1))("before number %i: the run continues and ends the same", (number) =>
		inWorld(async (world) => {
			const killed = await kill(world, `append ${number} before`, "send");
			expect(killed.entries).toHaveLength(entriesAfter[number - 1] as number);
			expectResumed(await resumeAndCompare(world, [killed]), [2]);
		}),
	);

	test.concurrent.for(numbers.slice(0, -1))(
		"after number %i: the run continues and ends the same",
		(number) =>
			inWorld(async (world) => {
				const killed = await kill(world, `append ${number} after`, "send");
				expect(killed.entries).toHaveLength(entriesAfter[number] as number);
				expectResumed(await resumeAndCompare(world, [killed]), [2]);
			}),
	);
});

describe("a process killed while it recovers a run", () => {
	const again = ["append 1 before", "append 1 after", "append 2 before", "append 2 after"];
	const cases = [1, 4, 5, 6, 10, 12, 13]
		.flatMap((number) => again.map((second) => [number, second] as const))
		// With the second append after the last result the run is over.
		.filter(([number, second]) => number !== 13 || second !== "append 2 after");
	test.concurrent.for(cases)(
		'killed after append %i and then at "%s": the run continues and ends the same',
		([number, second]) =>
			inWorld(async (world) => {
				const first = await kill(world, `append ${number} after`, "send");
				const killed = await kill(world, second, "resume");
				const resumed = second === "append 1 before" ? [2] : [2, 3];
				expectResumed(await resumeAndCompare(world, [first, killed]), resumed);
			}),
	);
});

describe("calls that end at the same time and share a commit", () => {
	const wide: Plan = {
		task: "wide",
		rounds: [
			["lookup:a", "lookup:b", "lookup:c", "lookup:d"],
			["post:e", "post:f"],
		],
	};
	test.concurrent.for([2, 3, 4, 5, 6, 7, 8, 9])(
		"killed after append %i: every result is present once",
		(number) =>
			inWorld(async (world) => {
				const work = { send: [JSON.stringify(wide)] };
				const ended = await world.run({ killAt: `append ${number} after`, work, unordered: true });
				expectKilledAt(ended, `append ${number} after`);
				// What shared the transaction of the append that was seen is committed too.
				expect((await world.entries()).length).toBeGreaterThanOrEqual(Number(ended.moments.at(-1)?.seq));
				const resumed = await world.run({ work: { resume: true }, unordered: true });
				expect(named(resumed, "result")).toHaveLength(1);
				const text = named(resumed, "result")[0]?.text;
				expect(text).toMatch(
					/^wide is done: fact of a, fact of b, fact of c, fact of d, receipt \d, receipt \d\.$/,
				);
				const trace = await traceOf(world);
				expectWellFormed(trace.entries);
				expectNoOpenCalls(trace.requests);
				expect(world.received().size).toBe(2);
			}),
	);
});
