// The cost of a durable step on SQLite compared with its floor: bare transactions that write the same rows into the same
// kind of file, two per step. Both alternate in this process, each time in a new file.
import { rmSync } from "node:fs";
import { agent } from "holdfast";
import { type SqliteJournal, sqliteHost } from "holdfast/sqlite";
import { byCommit, type Durability, openBareFile, readJournalRows } from "../bare-transactions.ts";
import { effort, gaps, type Measurement, mean, median, mustBe, p99, report, spend } from "../measure.ts";
import { lookTool, steppingModel } from "../stub-model.ts";

const flatOver = 500;

interface Round {
	/** Microseconds of each step. */
	readonly steps: readonly number[];
	/** Microseconds of CPU time per step. */
	readonly cpu: number;
	readonly commits: number;
}

async function ours(path: string, steps: number, durability: Durability): Promise<Round> {
	const times: number[] = [];
	const host = sqliteHost({ path, durability });
	const model = steppingModel(steps, "whole");
	const looker = agent({ model, tools: [lookTool(() => times.push(performance.now()))], host });
	const spent = await spend(async () => (await looker.session("customer").send("Look.")).result());
	mustBe("the outcome", spent.result.outcome, "completed");
	mustBe("the number of tool calls", times.length, steps);
	const { transactions } = host.journal as SqliteJournal;
	await looker.close();
	await host.close();
	return {
		steps: gaps(times).map((gap) => gap * 1000),
		cpu: spent.cpu / steps,
		commits: transactions / steps,
	};
}

async function floor(from: string, path: string, steps: number, durability: Durability): Promise<Round> {
	const rows = readJournalRows(from);
	const transactions = byCommit(rows);
	const kinds = new Map(rows.entries.map((row, at) => [row, rows.marks[at]?.kind]));
	const times: number[] = [];
	const file = openBareFile(path, durability, rows);
	const spent = await spend(() => {
		for (const batch of transactions) {
			file.write(batch);
			if (batch[0] !== undefined && kinds.get(batch[0]) === "assistant") times.push(performance.now());
		}
	});
	file.close();
	mustBe("the floor's steps and last answer", times.length, steps + 1);
	const commits = transactions.length / steps;
	return { steps: gaps(times).map((gap) => gap * 1000), cpu: spent.cpu / steps, commits };
}

async function measure(durability: Durability, steps: number, rounds: number): Promise<Measurement[]> {
	const own: Round[] = [];
	const bare: Round[] = [];
	for (let at = -1; at < rounds; at++) {
		const file = `${durability}-${at}.db`;
		const bareFile = `${durability}-${at}-bare.db`;
		const one = await ours(file, steps, durability);
		const other = await floor(file, bareFile, steps, durability);
		for (const name of [file, bareFile]) rmSync(name);
		if (at < 0) continue;
		own.push(one);
		bare.push(other);
	}
	const ratio = (of: (round: Round) => number): number =>
		median(own.map((round, at) => of(round) / of(bare[at] as Round)));
	const flat = own.map(({ steps: all }) => mean(all.slice(-flatOver)) / mean(all.slice(0, flatOver)));
	const line = (what: string, rounded: readonly Round[]): Measurement => ({
		what: `${what}, ${durability}`,
		unit: "µs",
		median: median(rounded.flatMap((round) => round.steps)),
		p99: p99(rounded.flatMap((round) => round.steps)),
		cpu: median(rounded.map((round) => round.cpu)),
		note: `${median(rounded.map((round) => round.commits)).toFixed(2)} commits a step`,
	});
	return [
		line("durable step", own),
		line("floor: bare transactions", bare),
		{
			what: `durable step to its floor, medians, ${durability}`,
			unit: "×",
			median: ratio((round) => median(round.steps)),
			target: { is: "at most", value: 2 },
		},
		{
			what: `durable step to its floor, means, ${durability}`,
			unit: "×",
			median: ratio((round) => mean(round.steps)),
		},
		{
			what: `last ${flatOver} steps of ${steps.toLocaleString("en")} to the first, ${durability}`,
			unit: "×",
			median: median(flat),
			target: { is: "at most", value: 1.3 },
		},
	];
}

report([
	...(await measure("process", effort.size(5_000, 2_000), effort.repetitions(9))),
	...(await measure("power", effort.size(5_000, 1_000), effort.repetitions(5))),
]);
