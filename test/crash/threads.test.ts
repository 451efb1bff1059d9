// A process is killed at every write of threads with values, files, effects, sub-agents and a handoff: appends, inputs, records, values,
// files and timers. One process dies for all threads at once, each held at a write of its own; the next one finishes them. Each is
// then held against the thread that was left alone.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { threads as makeThreads } from "@holdfast/threads";
import { readStoreKey } from "holdfast/execute";
import type { Entry } from "holdfast/host";
import { sqliteHost } from "holdfast/sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
	type CheckedWorld,
	checkThreads,
	differsFrom,
	threadOutcome,
} from "../simulation/threads-checks.fixture.ts";
import { projectIn } from "../simulation/threads-project.fixture.ts";
import { lines, runToEnd } from "./run-to-end.fixture.ts";
import { plans } from "./threads-cases.fixture.ts";
import type { ThreadsOptions } from "./threads-process.fixture.ts";

const program = join(import.meta.dirname, "threads-process.fixture.ts");
const home = mkdtempSync(join(tmpdir(), "holdfast-threads-"));
afterAll(() => rmSync(home, { recursive: true }));

type PlanName = keyof typeof plans;
interface Report {
	readonly held?: readonly string[];
	readonly problem?: string;
	readonly failed?: string;
	readonly written?: Readonly<Record<string, readonly string[]>>;
}
const fileOf = (file: string): string => join(home, `${file}.db`);
const deedsOf = (file: string): string => join(home, `${file}-deeds.jsonl`);

function run(
	file: string,
	options: Pick<ThreadsOptions, "phase" | "later" | "cases">,
): Promise<{ readonly reports: readonly Report[]; readonly signal: string | null }> {
	const all: ThreadsOptions = { path: fileOf(file), deeds: deedsOf(file), ...options };
	return runToEnd(program, all);
}

/** What the processes on a file left of the threads of a plan, and who looks at it. */
async function look(
	file: string,
	plan: PlanName,
	threadIds: readonly string[],
	kills: number,
): Promise<CheckedWorld & { end(): Promise<void> }> {
	const host = sqliteHost(fileOf(file));
	const seen = makeThreads({
		project: projectIn({
			plan: plans[plan],
			delayOf: () => 0,
			pass: async () => {},
			begins() {},
			did() {},
			wrong() {},
		}),
		host,
		namespace: plan,
	});
	const sessions = new Map<string, readonly Entry[]>();
	for (const { key } of await host.journal.list()) {
		const { key: id, namespace } = readStoreKey(key);
		if (namespace === plan) sessions.set(id, await host.journal.read(key));
	}
	const deeds = { note: new Map(), save: new Map(), effect: new Map() };
	const done = existsSync(deedsOf(file)) ? readFileSync(deedsOf(file), "utf8") : "";
	for (const { what, key } of lines<{ what: keyof typeof deeds; key: string }>(done))
		deeds[what].set(key, (deeds[what].get(key) ?? 0) + 1);
	const by = "the first";
	const sayings = threadIds.map((threadId) => ({ threadId, by, text: "said 1", accepted: true, after: [] }));
	const end = async (): Promise<void> => {
		await seen.close();
		await host.close();
	};
	return { threadIds, seen, deeds, sayings, kills, entries: (key) => sessions.get(key) ?? [], end };
}

interface Case {
	readonly name: string;
	readonly plan: PlanName;
	readonly holdAt: string;
}
const cases: Case[] = [];
const alone = new Map<PlanName, readonly string[]>();

beforeAll(async () => {
	const names = Object.keys(plans) as PlanName[];
	const left = await run("alone", {
		phase: "alone",
		later: 0,
		cases: names.map((plan) => ({ name: `${plan}.0` })),
	});
	expect(left.reports).toEqual([{ written: expect.anything() }]);
	for (const plan of names) {
		const world = await look("alone", plan, [`${plan}.0`], 0);
		expect(await checkThreads(world)).toBeUndefined();
		alone.set(plan, await threadOutcome(world, `${plan}.0`));
		await world.end();
		// One that was made and one that the next begins are apart only where several are made at once.
		const writes = left.reports[0]?.written?.[`${plan}.0`] ?? [];
		const moments = writes.filter((write, at) => write.endsWith("after") || at < 2);
		expect(moments.length).toBeGreaterThan(20);
		for (const [at, holdAt] of moments.entries()) cases.push({ name: `${plan}.${at + 1}`, plan, holdAt });
	}
	const dying = await run("killed", { phase: "die", later: 0, cases });
	expect(dying.signal).toBe("SIGKILL");
	expect(dying.reports).toEqual([{ held: expect.anything() }]);
	// Where several write at once, the number of writes differs from time to time.
	expect(dying.reports[0]?.held?.length).toBeGreaterThan(0.9 * cases.length);
	const finishing = await run("killed", {
		phase: "finish",
		later: 60_000,
		cases: cases.map(({ name }) => ({ name })),
	});
	expect(finishing.reports).toEqual([{ written: expect.anything() }]);
	expect(finishing.signal).toBeNull();
}, 1_200_000);

describe.for(Object.keys(plans) as PlanName[])("threads with %s", (plan) => {
	test("killed at every write end the same: nothing is lost, and nothing happens twice [SA-067] [SA-124] [SA-135] [SA-136]", async () => {
		const own = cases.filter((each) => each.plan === plan);
		const wrong: string[] = [];
		const names = own.map(({ name }) => name);
		const world = await look("killed", plan, names, 1);
		for (const { name, holdAt } of own) {
			const problem =
				(await checkThreads({ ...world, threadIds: [name] })) ??
				differsFrom(alone.get(plan) ?? [], await threadOutcome(world, name));
			if (problem !== undefined) wrong.push(`${name}, killed at "${holdAt}": ${problem}`);
		}
		await world.end();
		expect(wrong).toEqual([]);
	});
});
