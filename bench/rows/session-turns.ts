// The cost of a turn in an old durable session: turns of one tool step on SQLite, the 1,000th compared with the 10th, in
// time and in bytes, with and without plugins that read the history. The floor writes the same rows again.
import { readFileSync, rmSync } from "node:fs";
import { type Agent, agent } from "holdfast";
import { compaction, memory, type Plugin } from "holdfast/plugins";
import { sqliteHost } from "holdfast/sqlite";
import { byCommit, openBareFile, readJournalRows } from "../bare-transactions.ts";
import { effort, type Measurement, median, mustBe, p99, report, spend } from "../measure.ts";
import { lookTool, steppingModel } from "../stub-model.ts";

const turns = 1_000;
/** Number of turns averaged around the 10th, and at the end. */
const around = 10;

interface Session {
	/** Microseconds of each turn, from sending to its result. */
	readonly times: readonly number[];
	/** Microseconds of CPU time per turn. */
	readonly cpu: number;
	/** Bytes of the rows of each turn. */
	readonly rowBytes: readonly number[];
	/** Bytes that the process passed to the system in the first and in the last hundred turns. */
	readonly written: { readonly early: number; readonly late: number };
	/** Microseconds of each turn of the floor. */
	readonly bare: readonly number[];
}

const plugins: ReadonlyMap<string, () => readonly Plugin[]> = new Map([
	["plain", () => []],
	[
		"with plugins",
		() => [memory(), compaction({ maxTokens: 2_000, summarise: () => "They looked at things." })],
	],
]);

/** Returns the bytes that this process has passed to the system for writing. */
function bytesWritten(): number {
	return Number(/^wchar: (\d+)$/m.exec(readFileSync("/proc/self/io", "utf8"))?.[1]);
}

async function grow(path: string, given: readonly Plugin[]): Promise<Session> {
	const host = sqliteHost(path);
	const looker: Agent = agent({
		model: steppingModel(1, "whole"),
		tools: [lookTool()],
		host,
		...(given.length === 0 ? {} : { plugins: given }),
	});
	const session = looker.session("customer");
	const times: number[] = [];
	const marks: number[] = [];
	const spent = await spend(async () => {
		for (let at = 0; at < turns; at++) {
			if (at % 100 === 0) marks.push(bytesWritten());
			const started = performance.now();
			const { outcome, steps } = await (await session.send("Look.")).result();
			times.push((performance.now() - started) * 1000);
			if (outcome !== "completed" || steps !== 2)
				throw new Error(`Turn ${at + 1} did not come out as meant.`);
		}
	});
	marks.push(bytesWritten());
	await looker.close();
	await host.close();
	const rows = readJournalRows(path);
	const rowBytes: number[] = [];
	for (const [at, row] of rows.entries.entries()) {
		if (rows.marks[at]?.kind === "run.started") rowBytes.push(0);
		rowBytes[rowBytes.length - 1] = (rowBytes.at(-1) ?? 0) + sizeOf(row);
	}
	mustBe("the number of turns in the file", rowBytes.length, turns);
	const bare = floor(`${path}-bare`, rows);
	const [first, second] = marks as [number, number];
	return {
		times,
		cpu: spent.cpu / turns,
		rowBytes,
		written: { early: second - first, late: (marks.at(-1) as number) - (marks.at(-2) as number) },
		bare,
	};
}

/** Writes the same rows, with a transaction per commit, timed turn by turn. */
function floor(path: string, rows: ReturnType<typeof readJournalRows>): readonly number[] {
	const kinds = new Map(rows.entries.map((row, at) => [row, rows.marks[at]?.kind]));
	const file = openBareFile(path, "process", rows);
	const times: number[] = [];
	let started = 0;
	for (const batch of byCommit(rows)) {
		const [first] = batch;
		if (first !== undefined && kinds.get(first) === "run.started") started = performance.now();
		file.write(batch);
		if (batch.some((row) => kinds.get(row) === "run.ended")) times.push((performance.now() - started) * 1000);
	}
	file.close();
	rmSync(path);
	return times;
}

function sizeOf(row: readonly unknown[]): number {
	return row.reduce((sum: number, cell) => sum + (typeof cell === "string" ? Buffer.byteLength(cell) : 8), 0);
}

/** Turns around the 10th: the earlier ones are the session's first. */
const early = (all: readonly number[]): readonly number[] => all.slice(around / 2, around / 2 + around);
const late = (all: readonly number[]): readonly number[] => all.slice(-around);
const growth = (all: readonly number[]): number => median(late(all)) / median(early(all));

async function measure(name: string, given: () => readonly Plugin[]): Promise<Measurement[]> {
	const sessions: Session[] = [];
	const repetitions = effort.repetitions(9);
	for (let at = -2; at < repetitions; at++) {
		const path = `turns-${name.replaceAll(" ", "-")}-${at}.db`;
		const session = await grow(path, given());
		rmSync(path);
		if (at >= 0) sessions.push(session);
	}
	const of = (pick: (session: Session) => number): number => median(sessions.map(pick));
	const turn = (what: string, pick: (all: readonly number[]) => readonly number[]): Measurement => ({
		what: `turn ${what}, ${name}`,
		unit: "µs",
		median: median(sessions.flatMap(({ times }) => pick(times))),
		p99: p99(sessions.flatMap(({ times }) => pick(times))),
	});
	return [
		turn("10", early),
		turn("1,000", late),
		{
			what: `turn 1,000 to turn 10 in time, ${name}`,
			unit: "×",
			median: of(({ times }) => growth(times)),
			target: { is: "at most", value: 1.3 },
			note: `floor: ${of(({ bare }) => growth(bare)).toFixed(2)} ×`,
		},
		{
			what: `turn to its floor, medians, ${name}`,
			unit: "×",
			median: of(({ times, bare }) => median(times) / median(bare)),
			cpu: of(({ cpu }) => cpu),
		},
		{
			what: `turn 1,000 to turn 10 in bytes of rows, ${name}`,
			unit: "×",
			median: of(({ rowBytes }) => growth(rowBytes)),
			target: { is: "at most", value: 1.05 },
			note: `${Math.round(of(({ rowBytes }) => median(late(rowBytes))))} B a turn`,
		},
		{
			what: `last 100 turns to the first in bytes written, ${name}`,
			unit: "×",
			median: of(({ written }) => written.late / written.early),
			target: { is: "at most", value: 1.3 },
			note: `${(of(({ written }) => written.late) / 100_000).toFixed(1)} KB a turn`,
		},
	];
}

const measurements: Measurement[] = [];
for (const [name, given] of plugins) measurements.push(...(await measure(name, given)));
report(measurements);
