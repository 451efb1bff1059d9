// A process is killed before and after every write of steering, interrupts, sub-agents, background work, notifications and
// compaction: appends, inputs and records. One process dies for all cases at once, each of them held at its own write; the
// next dies while it recovers them; the last finishes them. Each is then held against the case that was left alone.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Entry } from "holdfast/host";
import { sqliteHost } from "holdfast/sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CaseRequest } from "./case-model.fixture.ts";
import { scenarios } from "./cases.fixture.ts";
import type { CasesOptions } from "./cases-process.fixture.ts";
import { lines, runToEnd } from "./run-to-end.fixture.ts";

const program = join(import.meta.dirname, "cases-process.fixture.ts");
const home = mkdtempSync(join(tmpdir(), "holdfast-writes-"));
afterAll(() => rmSync(home, { recursive: true }));

interface Report {
	readonly held?: readonly string[];
	readonly missing?: readonly string[];
	readonly failed?: string;
	readonly problem?: string;
	readonly written?: Readonly<Record<string, readonly string[]>>;
}

/** Runs a process on the file of these cases to its end; gives what it reported. */
function runCases(
	file: string,
	options: Pick<CasesOptions, "phase" | "later" | "cases">,
): Promise<{ readonly reports: readonly Report[]; readonly signal: string | null }> {
	const all: CasesOptions = {
		path: join(home, `${file}.db`),
		requests: join(home, `${file}-requests.jsonl`),
		effects: join(home, `${file}-effects.jsonl`),
		...options,
	};
	return runToEnd(program, all);
}

/** What the processes on a file left of one case. */
interface Left {
	/** What each agent's model was asked, in order. */
	readonly requests: ReadonlyMap<string, readonly string[]>;
	/** How often the receiver got each key, by call. */
	readonly effects: ReadonlyMap<string, ReadonlyMap<string, number>>;
	readonly sessions: ReadonlyMap<string, readonly Entry[]>;
	readonly waiting: number;
}

/** Ids differ from run to run: they are named by the order in which they come. */
function plain(requests: readonly CaseRequest[], name: string): ReadonlyMap<string, readonly string[]> {
	const found = new Map<string, string[]>();
	const ids = new Map<string, string>();
	for (const { system, messages } of requests) {
		const text = JSON.stringify(messages)
			.replaceAll(/[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g, (id) => {
				const known = ids.get(id) ?? `id-${ids.size + 1}`;
				ids.set(id, known);
				return known;
			})
			.replaceAll(new RegExp(`\\b${name.replace(".", "\\W")}\\b`, "g"), "case");
		found.set(system, [...(found.get(system) ?? []), text]);
	}
	return found;
}

async function readLeft(file: string, names: readonly string[]): Promise<ReadonlyMap<string, Left>> {
	const read = (what: string): string => {
		const path = join(home, `${file}-${what}.jsonl`);
		return existsSync(path) ? readFileSync(path, "utf8") : "";
	};
	const requests = Map.groupBy(lines<CaseRequest>(read("requests")), ({ name }) => name);
	const effects = lines<{ toolCallId: string; idempotencyKey: string }>(read("effects"));
	const host = sqliteHost(join(home, `${file}.db`));
	try {
		expect(await host.scheduler.list()).toEqual([]);
		const heads = await host.journal.list();
		const found = new Map<string, Left>();
		for (const name of names) {
			const own = heads.filter(({ key }) => key.split(/[^\w.]/).includes(name));
			const sessions = new Map<string, readonly Entry[]>();
			for (const { key } of own) sessions.set(key, await host.journal.read(key));
			const counted = new Map<string, Map<string, number>>();
			for (const { toolCallId, idempotencyKey } of effects) {
				if (!toolCallId.startsWith(`${name.replace(".", "-")}-`)) continue;
				const keys = counted.get(toolCallId) ?? new Map<string, number>();
				counted.set(toolCallId, keys.set(idempotencyKey, (keys.get(idempotencyKey) ?? 0) + 1));
			}
			found.set(name, {
				requests: plain(requests.get(name) ?? [], name),
				effects: counted,
				sessions,
				waiting: own.reduce((sum, { waiting }) => sum + waiting, 0),
			});
		}
		return found;
	} finally {
		await host.close();
	}
}

/** Each run has one start and one end, which is its last fact; each call has one result; nothing waits. */
function expectOver({ sessions, waiting }: Left): void {
	expect(waiting).toBe(0);
	for (const entries of sessions.values()) {
		expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index + 1));
		for (const runId of new Set(entries.map((entry) => entry.runId))) {
			const facts = entries.filter((entry) => entry.runId === runId).map(({ fact }) => fact);
			expect([facts[0]?.kind, facts.at(-1)?.kind]).toEqual(["run.started", "run.ended"]);
			const count = (kind: string): number => facts.filter((fact) => fact.kind === kind).length;
			expect([count("run.started"), count("run.ended")]).toEqual([1, 1]);
			const settled = facts.flatMap((fact) => (fact.kind === "tool.settled" ? [fact.callId] : []));
			expect(new Set(settled).size).toBe(settled.length);
		}
		const inputs = entries.flatMap(({ fact }) => (fact.kind === "input" ? [fact.inputId] : []));
		expect(new Set(inputs).size).toBe(inputs.length);
	}
}

/** The same questions in the same order, each at least once; undefined when they are, else how they are not. */
function difference(found: Left, reference: Left, instead = same): string | undefined {
	for (const [system, alone] of reference.requests) {
		const expected = instead(alone);
		const asked = found.requests.get(system) ?? [];
		const unknown = asked.find((request) => !expected.includes(request));
		if (unknown !== undefined) return `${system} was asked what it was not asked alone: ${unknown}`;
		const steps = asked.map((request) => expected.indexOf(request));
		const isBack = steps.findIndex((step, index) => index > 0 && step < (steps[index - 1] as number));
		if (isBack > 0) return `${system} was asked again what was answered: ${asked[isBack]}`;
		const missing = expected.find((request) => !asked.includes(request));
		if (missing !== undefined) return `${system} was never asked: ${missing}`;
	}
	return undefined;
}

const same = (requests: readonly string[]): readonly string[] => requests;

/** How a case that was killed at a write differs from the ways in which it may go alone; undefined when it does not. */
function deviation({ scenario, holdAt }: Case, found: Left): string | undefined {
	const { counts, instead = same } = scenarios[scenario] ?? {};
	const writes = moments[scenario] ?? [];
	const acted = alone.get(`${scenario}.0`) as Left;
	const differs = difference(found, acted);
	if (differs === undefined || difference(found, acted, instead) === undefined) return undefined;
	// What was done meanwhile and not committed was not done.
	const mayCount = counts === undefined || writes.indexOf(holdAt) >= writes.indexOf(counts);
	return mayCount ? differs : difference(found, alone.get(`${scenario}.1`) as Left);
}

const moments: Record<string, readonly string[]> = {};
const alone = new Map<string, Left>();
interface Case {
	readonly name: string;
	readonly scenario: string;
	readonly holdAt: string;
}
const cases: Case[] = [];
let left: ReadonlyMap<string, Left>;
let twice: ReadonlyMap<string, Left>;

/** Kills all cases at their writes and continues with them to their end; `deaths` of processes come in between. */
async function killAndFinish(file: string, deaths: 1 | 2): Promise<ReadonlyMap<string, Left>> {
	const dying = await runCases(file, { phase: "die", later: 0, cases });
	expect(dying.signal).toBe("SIGKILL");
	expect(dying.reports).toEqual([{ held: expect.anything(), missing: expect.anything() }]);
	// Where two race for a record, or a wait is over before it begins, the number of writes differs from time to time: then
	// a case has come to its end.
	const missing = dying.reports[0]?.missing ?? [];
	expect(missing.filter((name) => !/^(?:background|notify|decide)\./.test(name))).toEqual([]);
	expect(missing.length, missing.join()).toBeLessThan(5);
	const names = cases.map(({ name }) => ({ name }));
	if (deaths === 2) {
		const again = names.map(({ name }, index) => ({
			name,
			holdAt: { writes: 1 + (index % 5), moment: index % 2 === 0 ? ("after" as const) : ("before" as const) },
		}));
		const second = await runCases(file, { phase: "die again", later: 60_000, cases: again });
		expect(second.signal).toBe("SIGKILL");
		expect(second.reports).toEqual([{ held: expect.anything() }]);
		expect(second.reports[0]?.held?.length).toBeGreaterThan(cases.length / 2);
	}
	const finishing = await runCases(file, { phase: "finish", later: 120_000, cases: names });
	expect(finishing.reports.filter(({ written }) => written === undefined)).toEqual([]);
	expect(finishing.signal).toBeNull();
	return readLeft(
		file,
		names.map(({ name }) => name),
	);
}

beforeAll(async () => {
	const references = Object.keys(scenarios).flatMap((scenario) => [
		{ name: `${scenario}.0` },
		{ name: `${scenario}.1`, isPlain: true },
	]);
	const { reports, signal } = await runCases("alone", { phase: "begin", later: 0, cases: references });
	expect(reports.filter(({ written }) => written === undefined)).toEqual([]);
	expect(signal).toBeNull();
	const written = reports.at(-1)?.written ?? {};
	for (const [name, each] of await readLeft(
		"alone",
		references.map(({ name }) => name),
	)) {
		expectOver(each);
		alone.set(name, each);
	}
	for (const scenario of Object.keys(scenarios)) {
		moments[scenario] = written[`${scenario}.0`] ?? [];
		for (const [index, holdAt] of (written[`${scenario}.0`] ?? []).entries())
			cases.push({ name: `${scenario}.${index + 10}`, scenario, holdAt });
	}
	left = await killAndFinish("once", 1);
	twice = await killAndFinish("twice", 2);
}, 1_200_000);

describe.for(Object.keys(scenarios))("%s: killed before and after every write", (scenario) => {
	test.for([
		["once", () => left],
		["and again while it recovers", () => twice],
	] as const)("%s, it ends the same, and each effect counts once", ([, found]) => {
		const killed = cases.filter((each) => each.scenario === scenario);
		expect(killed.length).toBeGreaterThan(4);
		const wrong: string[] = [];
		for (const own of killed) {
			const { name, holdAt } = own;
			const each = found().get(name) as Left;
			try {
				expectOver(each);
				expect(deviation(own, each)).toBeUndefined();
				for (const [call, keys] of each.effects) expect([call, keys.size]).toEqual([call, 1]);
			} catch (error) {
				wrong.push(`${name}, killed at "${holdAt}": ${(error as Error).message}`);
			}
		}
		expect(wrong).toEqual([]);
	});
});
