// A process whose agent plans, acts and reflects is killed at a moment. Another one resumes the run, which then is held
// against the run that was left alone.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type AgentResult, type AuditRecord, fileEventStore, readResult } from "@holdfast/runner";
import type { Entry, Fact } from "holdfast/host";
import { sqliteHost } from "holdfast/sqlite";
import { expect } from "vitest";
import { wrongAudit } from "../simulation/audited-append.fixture.ts";
import { expectWellFormed, factsOf } from "./comparison.fixture.ts";
import type { Moment } from "./moments.fixture.ts";
import { type Ended, makeWorld, named, pool, type World } from "./world.fixture.ts";

/** `plain`: with memory of its own, and nobody who reflects, so that what is made of a result shares its append. */
export type Memory = "own" | "remembered" | "plain";

/** Appends of the run left alone; memory of the caller's takes two more for each entry that is written to it. */
const appends = { own: 18, remembered: 26, plain: 14 } as const;
export const numbers = (session: Memory): readonly number[] =>
	Array.from({ length: appends[session] }, (_, index) => index + 1);
const twoAtOnce = pool(2);

interface SeenState {
	readonly step: number;
	readonly [member: string]: unknown;
}

/** What the processes of a world left. */
interface Left {
	readonly entries: readonly Entry[];
	readonly states: readonly SeenState[];
	readonly result: AgentResult | undefined;
	readonly audit: readonly AuditRecord[];
}

async function leftOf(world: World, session: Memory): Promise<Left> {
	const host = sqliteHost(world.path);
	try {
		const entries = await host.journal.read(session);
		const audit = factsOf(entries, "note").flatMap(({ topic, value }) =>
			topic === "runner.audit" ? [value as AuditRecord] : [],
		);
		const states = world.requests() as unknown as readonly SeenState[];
		return { entries, states, audit, result: await readResult(host, session) };
	} finally {
		await host.close();
	}
}

const work = (
	world: World,
	session: Memory,
	work: "send" | "resume" | "recover" | "whatever",
	killAt?: string,
) =>
	world.start(
		{
			session,
			...(killAt === undefined ? {} : { killAt }),
			work:
				work === "send"
					? { send: ["Report on all."] }
					: work === "resume"
						? { resume: true }
						: work === "recover"
							? { recover: true }
							: { whatever: true },
		},
		"plans",
	).ended;

const alone = new Map<Memory, Left>();

/** Ids and times differ from run to run. */
function plain(value: unknown): unknown {
	const passing = ["id", "startedAt", "finishedAt", "timestamp", "duration", "metrics", "sessionId"];
	return JSON.parse(JSON.stringify(value ?? null), (name, member) =>
		passing.includes(name) ? undefined : member,
	);
}

/** Whether the call that must not be repeated was cut off: then nobody knows what became of it. */
function isCutOff({ entries }: Left): boolean {
	const settled = new Set(factsOf(entries, "tool.settled").map(({ callId }) => callId));
	return factsOf(entries, "tool.started").some(
		({ name, callId }) => name === "record" && !settled.has(callId),
	);
}

/** Each effect at most once or under one key, and none without what policy had to say of it on record before. */
function expectAccountable(world: World, { entries }: Left): void {
	expect(world.received().size).toBeLessThanOrEqual(1);
	expect(world.effects().length).toBeLessThanOrEqual(1);
	for (const effect of world.effects()) expect(effect).toMatch(/ \{"subject":"beta"\}$/);
	const started = entries.find(({ fact }) => fact.kind === "tool.started" && fact.name === "record");
	const audited = entries.find(
		({ fact }) => fact.kind === "note" && (fact.value as AuditRecord).rule === "sanitizers",
	);
	if (started !== undefined) expect(audited?.seq).toBeLessThan(started.seq);
	if (world.effects().length > 0) expect(started).toBeDefined();
	const sink = join(world.home, "audit.jsonl");
	if (audited !== undefined) expect(readFileSync(sink, "utf8")).toContain('"rule":"sanitizers"');
	expect(factsOf(entries, "tool.started").map(({ name }) => name)).not.toContain("forbidden");
}

/** Every append that these processes made has the audit records of what policy did in it, and no other ones. */
function expectAuditShared({ entries }: Left, processes: readonly Ended[]): void {
	const sizes = new Map<unknown, number>();
	for (const { moments } of processes)
		for (const { moment, seq } of moments) {
			const [, number] = /^append (\d+) after$/.exec(moment) ?? [];
			if (number === undefined) continue;
			const { facts } = moments.find((each) => each.moment === `append ${number} before`) as Moment;
			sizes.set(seq, (facts as readonly string[]).length);
		}
	let together: Fact[] = [];
	for (const { seq, fact } of entries) {
		together.push(fact);
		const size = sizes.get(seq);
		if (size === undefined) continue;
		expect(together).toHaveLength(size);
		expect(wrongAudit(together)).toBeUndefined();
		together = [];
	}
	expect(together).toEqual([]);
}

/** The record of events has no gap, and says so where something was cut off. */
async function expectRecord(world: World, { result, entries }: Left): Promise<void> {
	const store = fileEventStore(join(world.home, "events"));
	const runId = result?.id as string;
	const events = await store.read(runId);
	expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
	expect(await store.verify(runId)).toEqual({ ok: true });
	const isResumed = entries.some(({ fact }) => fact.kind === "run.resumed");
	expect(events.some(({ type }) => type === "run.resume")).toBe(isResumed);
	expect(await store.isIncomplete?.(runId)).toBe(isResumed);
	const count = (type: string) => events.filter((event) => event.type === type).length;
	expect([count("run.start"), count("run.begin"), count("plan"), count("policy"), count("run.end")]).toEqual([
		1, 1, 7, 2, 1,
	]);
	expect([count("tool.result"), count("reflect")]).toEqual([4, 4]);
}

/** Holds a run that was killed and resumed against the one left alone. */
async function expectSameEnd(world: World, session: Memory, killed: Left): Promise<Left> {
	const left = await leftOf(world, session);
	const reference = alone.get(session) as Left;
	expectWellFormed(left.entries);
	expectAccountable(world, left);
	await expectRecord(world, left);
	expect(plain(left.audit)).toEqual(plain(reference.audit));
	const asked = left.states.map(({ step }) => step);
	expect(asked).toEqual(asked.toSorted((one, other) => one - other));
	expect(factsOf(left.entries, "decision").filter(({ topic }) => topic === "runner.plan")).toHaveLength(7);
	if (isCutOff(killed)) {
		expect(left.result).toMatchObject({ success: true, result: "All is reported.", steps: 7 });
		expect(left.result?.actions?.[1]).toMatchObject({ ok: false, error: { code: "TOOL_OUTCOME_UNKNOWN" } });
		return left;
	}
	expect(plain(left.result)).toEqual(plain(reference.result));
	expect(world.effects()).toHaveLength(1);
	expect(world.received().size).toBe(1);
	// Each question was asked as it was asked alone, and none after it was answered.
	for (const state of left.states) expect(state).toEqual(reference.states[state.step - 1]);
	expect(new Set(asked).size).toBe(7);
	const answered = factsOf(killed.entries, "decision").filter(({ topic }) => topic === "runner.plan").length;
	const again = left.states.slice(killed.states.length).map(({ step }) => step);
	expect(again[0] ?? answered + 1).toBe(answered + 1);
	if (session === "remembered") expectOnceInMemory(world);
	return left;
}

function expectOnceInMemory(world: World): void {
	const lines = readFileSync(join(world.home, "memory.jsonl"), "utf8").trimEnd().split("\n");
	expect(lines.map((line) => JSON.parse(line).key)).toEqual([
		"before",
		"before",
		"notes",
		"before",
		"notes",
		"before",
	]);
}

/** Kills a run at a moment, and perhaps the one that resumes it; holds what it comes to against the run left alone. */
export async function killAndResume(
	session: Memory,
	killAt: string,
	how: "resume" | "recover" | "whatever" = "resume",
	again?: string,
): Promise<void> {
	await twoAtOnce(async () => {
		const world = await makeWorld();
		try {
			const processes = [await work(world, session, "send", killAt)];
			expectKilled(processes[0], killAt);
			let killed = await leftOf(world, session);
			expectAccountable(world, killed);
			expectAuditShared(killed, processes);
			if (again !== undefined) {
				processes.push(await work(world, session, how, again));
				expectKilled(processes[1], again);
				killed = await leftOf(world, session);
			}
			const ended = await work(world, session, how);
			processes.push(ended);
			expect(named(ended, "failed")).toEqual([]);
			expect(named(ended, "result")).toMatchObject([{ outcome: "completed" }]);
			expectAuditShared(await expectSameEnd(world, session, killed), processes);
		} finally {
			await world.end();
		}
	});
}

function expectKilled(ended: Ended | undefined, moment: string): void {
	expect(ended?.signal).toBe("SIGKILL");
	expect(ended?.moments.at(-1)?.moment).toBe(moment);
}

/** Runs each without killing it: before the tests of a file. */
export async function runAlone(): Promise<void> {
	for (const session of ["own", "remembered", "plain"] as const) {
		const world = await makeWorld();
		const ended = await work(world, session, "send");
		expect(named(ended, "failed")).toEqual([]);
		expect(ended.moments.filter(({ moment }) => /^append \d+ after$/.test(moment))).toHaveLength(
			appends[session],
		);
		const left = await leftOf(world, session);
		alone.set(session, left);
		expectAccountable(world, left);
		expectAuditShared(left, [ended]);
		await expectRecord(world, left);
		expect(left.audit.map(({ rule, action }) => [rule, action])).toEqual([
			["sanitizers", "modified"],
			["toolDenylist", "blocked"],
		]);
		expect(left.states.map(({ task }) => task)).toEqual(Array(7).fill("Report on all."));
		expect(existsSync(join(world.home, "result.json"))).toBe(true);
		const { eventStream: _, ...own } = JSON.parse(readFileSync(join(world.home, "result.json"), "utf8"));
		expect(plain(left.result)).toEqual(plain(own));
		await world.end();
	}
}
