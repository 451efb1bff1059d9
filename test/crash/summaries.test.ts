// A process is killed before and after every write of conversations whose summaries are written in the background. It dies
// for all cases at once, each of them held at its own write; the next process finishes them.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqliteHost } from "holdfast/sqlite";
import { expect, onTestFinished, test } from "vitest";
import { lines, runToEnd } from "./run-to-end.fixture.ts";
import type { Happened, SummariesOptions } from "./summaries-process.fixture.ts";

const program = join(import.meta.dirname, "summaries-process.fixture.ts");
const turns = 8;
const inOrder = Array.from({ length: turns }, (_, turn) => turn);

interface Report {
	readonly held?: readonly string[];
	readonly written?: Readonly<Record<string, readonly string[]>>;
}

test("a process killed at any write over SQLite loses no stored summary, and requests none again", async () => {
	const folder = mkdtempSync(join(tmpdir(), "holdfast-summaries-"));
	onTestFinished(() => rmSync(folder, { recursive: true }));
	const run = async (file: string, options: Pick<SummariesOptions, "phase" | "later" | "cases">) => {
		const paths = { path: join(folder, `${file}.db`), log: join(folder, `${file}.jsonl`) };
		const all: SummariesOptions = { ...paths, turns, ...options };
		const { reports, signal } = await runToEnd<Report>(program, all);
		return { report: reports[0], signal, happened: lines<Happened>(readFileSync(paths.log, "utf8")) };
	};

	const alone = await run("alone", { phase: "alone", later: 0, cases: [{ name: "case 0" }] });
	const writes = alone.report?.written?.["case 0"] ?? [];
	expect(writes.filter((write) => write.startsWith("value")).length).toBeGreaterThan(2);
	const moments = writes.flatMap((write) => [`${write} before`, `${write} after`]);
	const cases = moments.map((holdAt, at) => ({ name: `case ${at + 1}`, holdAt }));
	const dying = await run("killed", { phase: "die", later: 0, cases });
	expect(dying.signal).toBe("SIGKILL");
	expect(dying.report?.held).toHaveLength(cases.length);
	const names = cases.map(({ name }) => ({ name }));
	const { signal, happened } = await run("killed", { phase: "finish", later: 120_000, cases: names });
	expect(signal).toBeNull();

	const host = sqliteHost(join(folder, "killed.db"));
	const wrong: string[] = [];
	for (const { name, holdAt } of cases) {
		const own = happened.filter((each) => each.name === name);
		const facts = (await host.journal.read(name)).map(({ fact }) => fact);
		const stored = new Set<string>();
		try {
			expect(facts.filter(({ kind }) => kind === "assistant")).toHaveLength(turns);
			for (const { what, inputs, length = 0 } of own) {
				if (what === "stored") stored.add(inputs.join());
				if (what === "asked") expect([...stored]).not.toContain(inputs.join());
				if (what !== "called") continue;
				expect(inputs.toSorted((one, other) => one - other)).toEqual(inOrder.slice(0, inputs.length));
				expect(length).toBeLessThanOrEqual(8);
			}
			const called = own.filter(({ what }) => what === "called");
			expect(called.at(-1)?.inputs).toHaveLength(turns);
			expect(called.length).toBeLessThanOrEqual(turns + 1);
			expect(stored.size).toBeGreaterThan(1);
		} catch (error) {
			wrong.push(`${name}, killed at "${holdAt}": ${(error as Error).message}`);
		}
	}
	await host.close();
	expect(wrong).toEqual([]);
}, 120_000);
