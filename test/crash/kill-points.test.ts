// A real process is killed around the first and the last append of a run, inside its tools and inside its model calls. A fresh
// process resumes the run, which then is held against the run that was left alone. The longer run kills at every append.
import { beforeAll, describe, expect, test } from "vitest";
import { cutOff, expectWellFormed, traceOf } from "./comparison.fixture.ts";
import {
	appends,
	entriesAfter,
	expectResumed,
	input,
	inWorld,
	kill,
	plan,
	resumeAndCompare,
	runAlone,
	traceAlone,
} from "./kill-points.fixture.ts";
import { named } from "./world.fixture.ts";

beforeAll(runAlone);

describe("a process killed around an append", () => {
	test.concurrent("before the first one: nothing was accepted, and there is nothing to resume", () =>
		inWorld(async (world) => {
			expect((await kill(world, "append 1 before", "send")).entries).toEqual([]);
			const ended = await world.run({ work: { resume: true } });
			expect(named(ended, "result")).toEqual([]);
			expect(await world.entries()).toEqual([]);
		}));

	test.concurrent("after the last one: the run has ended, and there is nothing to resume", () =>
		inWorld(async (world) => {
			const killed = await kill(world, `append ${appends} after`, "send");
			expect(killed.entries).toHaveLength(entriesAfter[appends] as number);
			const ended = await world.run({ work: { resume: true } });
			expect(named(ended, "result")).toEqual([]);
			expectWellFormed(await world.entries());
			expect(killed.text).toBe(traceAlone().text);
		}));
});

describe("a process killed inside a call", () => {
	function continues(moment: string): Promise<void> {
		return inWorld(async (world) => {
			const killed = await kill(world, moment, "send");
			expectResumed(await resumeAndCompare(world, [killed]), [2]);
		});
	}

	test.concurrent.for(["model 1 asked", "model 3 half said", "model 6 half said"])(
		'of the model, at "%s": it is called again, and the run continues and ends the same [SES-105]',
		continues,
	);

	test.concurrent.for([
		"lookup alpha entered",
		"post beta entered",
		"post beta effected",
		"record beta effected",
		"post gamma effected",
		"record delta entered",
		"record delta effected",
	])('of a tool, at "%s": the run continues and ends the same', continues);

	test.concurrent("of a tool, next to calls that have their results: those do not run again [SES-106]", () =>
		inWorld(async (world) => {
			// Of the three calls of the second round, the first has its result in the journal by append 5.
			await kill(world, "append 5 after", "send");
			const resumed = await world.run({ work: { resume: true } });
			const entered = resumed.moments
				.map(({ moment }) => moment)
				.filter((moment) => moment.endsWith(" entered"));
			expect(entered).toEqual([
				"post beta entered",
				"post gamma entered",
				"record delta entered",
				"lookup epsilon entered",
			]);
			const [first] =
				(await traceOf(world)).requests
					.at(-1)
					?.messages.filter(({ type }) => type === "tool_result")
					.slice(1) ?? [];
			expect(first?.results?.[0]).toEqual({ id: "report-2-1", result: "fact of beta", isError: false });
		}));

	test.concurrent("a call that runs again keeps its key and counts its attempts; every other call has another key [SES-109]", () =>
		inWorld(async (world) => {
			const first = await world.run({ killAt: "post gamma effected", work: { send: [input] } });
			const second = await world.run({ work: { resume: true } });
			const [before] = named(first, "post gamma entered");
			const [after] = named(second, "post gamma entered");
			expect(before).toMatchObject({ attempt: 1, retryPolicy: "idempotent", toolCallId: "report-3-1" });
			expect(after).toEqual({ ...before, attempt: 2 });
			expect(world.received().get(String(before?.idempotencyKey))).toBe(2);
			const keys = [...first.moments, ...second.moments]
				.map(({ idempotencyKey }) => idempotencyKey)
				.filter(Boolean);
			expect(new Set(keys).size).toBe(plan.rounds.flat().length);
		}));

	test.concurrent("a call that must not be repeated is not, and the model sees that its outcome is unknown [SES-110]", () =>
		inWorld(async (world) => {
			const killed = await kill(world, "record delta effected", "send");
			expect(cutOff(killed.entries)).toEqual(["report-4-1"]);
			const { requests } = await resumeAndCompare(world, [killed]);
			const seen = requests
				.at(-1)
				?.messages.flatMap(({ results = [] }) => results)
				.find(({ id }) => id === "report-4-1");
			expect(seen).toMatchObject({
				isError: true,
				result: expect.stringMatching(/outcome of this call is unknown/),
			});
			expect(world.effects().filter((line) => line.endsWith(" delta"))).toHaveLength(1);
		}));
});
