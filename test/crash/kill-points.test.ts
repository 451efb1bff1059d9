// A real process is killed before and after every append of a run, inside its tools and inside its model calls. A fresh
// process resumes the run, which then is held against the run that was left alone.
import { beforeAll, describe, expect, test } from "vitest";
import {
	cutOff,
	expectNoOpenCalls,
	expectSameRequests,
	expectWellFormed,
	factsOf,
	type Trace,
	traceOf,
} from "./comparison.fixture.ts";
import type { Plan } from "./planned-model.fixture.ts";
import { type Ended, makeWorld, named, pool, type World } from "./world.fixture.ts";

const plan: Plan = {
	task: "report",
	rounds: [
		["lookup:alpha"],
		["lookup:beta", "post:beta", "record:beta"],
		["post:gamma"],
		["record:delta"],
		["lookup:epsilon"],
	],
};
const input = JSON.stringify(plan);
/** Appends of the run left alone, and the entries committed after each. */
const appends = 14;
const entriesAfter = [0, 2, 4, 5, 9, 10, 11, 12, 14, 15, 17, 18, 20, 21, 23];
const numbers = Array.from({ length: appends }, (_, index) => index + 1);
const twoAtOnce = pool(2);

let alone: Trace;

beforeAll(async () => {
	const world = await makeWorld();
	const ended = await world.run({ work: { send: [input] } });
	const commits = ended.moments.filter(({ moment }) => /^append \d+ after$/.test(moment));
	expect([0, ...commits.map(({ seq }) => seq)]).toEqual(entriesAfter);
	alone = await traceOf(world);
	expect(factsOf(alone.entries, "assistant")).toHaveLength(6);
	await world.end();
});

/** Kills a run at a moment; returns what was in the journal then. */
async function kill(world: World, killAt: string, work: "send" | "resume"): Promise<Trace> {
	const ended = await world.run({ killAt, work: work === "send" ? { send: [input] } : { resume: true } });
	expectKilledAt(ended, killAt);
	return traceOf(world);
}

function expectKilledAt(ended: Ended, moment: string): void {
	expect(ended.signal).toBe("SIGKILL");
	expect(ended.moments.at(-1)?.moment).toBe(moment);
}

/** Resumes a run that was killed, to its end, and holds it against the run left alone. `deaths` is what each death left. */
async function resumeAndCompare(world: World, deaths: readonly Trace[]): Promise<Trace> {
	const ended = await world.run({ work: { resume: true } });
	expect(ended.code).toBe(0);
	expect(named(ended, "result")).toMatchObject([{ outcome: "completed", text: alone.text, steps: 6 }]);
	const trace = await traceOf(world);
	expectWellFormed(trace.entries);
	expectNoOpenCalls(trace.requests);
	// A call that was recovered by the first resume, and settled as unknown, is no longer open at the second death.
	const unknown = [...new Set(deaths.flatMap(({ entries }) => cutOff(entries)))];
	expectSameRequests(trace.requests, alone.requests, unknown);
	const outcomes = factsOf(trace.entries, "tool.settled").filter(({ outcome }) => outcome !== "done");
	expect(outcomes.map(({ callId, outcome }) => [callId, outcome])).toEqual(
		unknown.map((id) => [id, "unknown"]),
	);
	expectEffects(world, trace, unknown);
	return trace;
}

/** Deduplicated, each idempotent call arrived once; what must not be repeated was not. */
function expectEffects(world: World, { entries }: Trace, unknown: readonly string[]): void {
	const started = factsOf(entries, "tool.started");
	const keys = (name: string): readonly string[] => [
		...new Set(started.filter((each) => each.name === name).map((each) => each.idempotencyKey)),
	];
	expect([...world.received().keys()]).toEqual(keys("post"));
	expect(world.received().size).toBe(2);
	const written = world.effects().map((line) => line.split(" ")[0]);
	expect(new Set(written).size).toBe(written.length);
	const cutOffKeys = started
		.filter(({ callId }) => unknown.includes(callId))
		.map((each) => each.idempotencyKey);
	for (const key of keys("record")) if (!cutOffKeys.includes(key)) expect(written).toContain(key);
}

function expectResumed({ entries }: Trace, attempts: readonly number[]): void {
	const resumed = factsOf(entries, "run.resumed").map(({ attempt, reason }) => [attempt, reason]);
	expect(resumed).toEqual(attempts.map((attempt) => [attempt, "crash"]));
}

/** Does `work` in a world of its own, two at a time. */
function inWorld(work: (world: World) => Promise<void>): Promise<void> {
	return twoAtOnce(async () => {
		const world = await makeWorld();
		try {
			await work(world);
		} finally {
			await world.end();
		}
	});
}

describe("a process killed around an append", () => {
	test.concurrent("before the first one: nothing was accepted, and nothing is there to resume", () =>
		inWorld(async (world) => {
			expect((await kill(world, "append 1 before", "send")).entries).toEqual([]);
			const ended = await world.run({ work: { resume: true } });
			expect(named(ended, "result")).toEqual([]);
			expect(await world.entries()).toEqual([]);
		}));

	test.concurrent("after the last one: the run is over, and nothing is there to resume", () =>
		inWorld(async (world) => {
			const killed = await kill(world, `append ${appends} after`, "send");
			expect(killed.entries).toHaveLength(entriesAfter[appends] as number);
			const ended = await world.run({ work: { resume: true } });
			expect(named(ended, "result")).toEqual([]);
			expectWellFormed(await world.entries());
			expect(killed.text).toBe(alone.text);
		}));

	test.concurrent.for(numbers.slice(1))("before number %i: the run continues to the same end", (number) =>
		inWorld(async (world) => {
			const killed = await kill(world, `append ${number} before`, "send");
			expect(killed.entries).toHaveLength(entriesAfter[number - 1] as number);
			expectResumed(await resumeAndCompare(world, [killed]), [2]);
		}),
	);

	test.concurrent.for(numbers.slice(0, -1))("after number %i: the run continues to the same end", (number) =>
		inWorld(async (world) => {
			const killed = await kill(world, `append ${number} after`, "send");
			expect(killed.entries).toHaveLength(entriesAfter[number] as number);
			expectResumed(await resumeAndCompare(world, [killed]), [2]);
		}),
	);
});

describe("a process killed inside a call", () => {
	function continues(moment: string): Promise<void> {
		return inWorld(async (world) => {
			const killed = await kill(world, moment, "send");
			expectResumed(await resumeAndCompare(world, [killed]), [2]);
		});
	}

	test.concurrent.for(["model 1 asked", "model 3 half said", "model 6 half said"])(
		'of the model, at "%s": it is asked again, and the run continues to the same end [SES-105]',
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
	])('of a tool, at "%s": the run continues to the same end', continues);

	test.concurrent("of a tool, beside calls that have their results: those are not entered again [SES-106]", () =>
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

	test.concurrent("a call that is entered again keeps its key and counts its attempts; every other call has another key [SES-109]", () =>
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

describe("a process killed while it recovers a run", () => {
	const again = ["append 1 before", "append 1 after", "append 2 before", "append 2 after"];
	const cases = [1, 4, 5, 6, 10, 12, 13]
		.flatMap((number) => again.map((second) => [number, second] as const))
		// With the second append after the last result the run is over.
		.filter(([number, second]) => number !== 13 || second !== "append 2 after");
	test.concurrent.for(cases)(
		'killed after append %i and then at "%s": the run continues to the same end',
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
		"killed after append %i: every result is there once",
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
