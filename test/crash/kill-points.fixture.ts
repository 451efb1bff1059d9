// A run in a real process that is killed at a moment; a fresh process resumes it. It is held against the run left alone.
import { expect } from "vitest";
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

export const plan: Plan = {
	task: "report",
	rounds: [
		["lookup:alpha"],
		["lookup:beta", "post:beta", "record:beta"],
		["post:gamma"],
		["record:delta"],
		["lookup:epsilon"],
	],
};
export const input: string = JSON.stringify(plan);
/** Appends of the run left alone, and the entries committed after each. */
export const appends = 14;
export const entriesAfter: readonly number[] = [0, 2, 4, 5, 9, 10, 11, 12, 14, 15, 17, 18, 20, 21, 23];
export const numbers: readonly number[] = Array.from({ length: appends }, (_, index) => index + 1);
const twoAtOnce = pool(2);

let alone: Trace;

/** What the run left behind that was left alone. */
export function traceAlone(): Trace {
	return alone;
}

/** Runs it without killing it: before the tests of a file. */
export async function runAlone(): Promise<void> {
	const world = await makeWorld();
	const ended = await world.run({ work: { send: [input] } });
	const commits = ended.moments.filter(({ moment }) => /^append \d+ after$/.test(moment));
	expect([0, ...commits.map(({ seq }) => seq)]).toEqual(entriesAfter);
	alone = await traceOf(world);
	expect(factsOf(alone.entries, "assistant")).toHaveLength(6);
	await world.end();
}

/** Kills a run at a moment; returns what was in the journal then. */
export async function kill(world: World, killAt: string, work: "send" | "resume"): Promise<Trace> {
	const ended = await world.run({ killAt, work: work === "send" ? { send: [input] } : { resume: true } });
	expectKilledAt(ended, killAt);
	return traceOf(world);
}

export function expectKilledAt(ended: Ended, moment: string): void {
	expect(ended.signal).toBe("SIGKILL");
	expect(ended.moments.at(-1)?.moment).toBe(moment);
}

/** Resumes a run that was killed, to its end, and holds it against the run left alone. `deaths` is what each death left. */
export async function resumeAndCompare(world: World, deaths: readonly Trace[]): Promise<Trace> {
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

export function expectResumed({ entries }: Trace, attempts: readonly number[]): void {
	const resumed = factsOf(entries, "run.resumed").map(({ attempt, reason }) => [attempt, reason]);
	expect(resumed).toEqual(attempts.map((attempt) => [attempt, "crash"]));
}

/** Does `work` in a world of its own, two at a time. */
export function inWorld(work: (world: World) => Promise<void>): Promise<void> {
	return twoAtOnce(async () => {
		const world = await makeWorld();
		try {
			await work(world);
		} finally {
			await world.end();
		}
	});
}
