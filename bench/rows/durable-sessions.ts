// The throughput of durable sessions in one process: 2,000 at once, one tool step each, on SQLite. It is compared with
// bare transactions that write the same rows, once with the same sharing and once with one transaction per session and
// commit.
import { rmSync } from "node:fs";
import { agent } from "holdfast";
import { type SqliteJournal, sqliteHost } from "holdfast/sqlite";
import {
	byCommit,
	evenly,
	type JournalRows,
	openBareFile,
	type Row,
	readJournalRows,
} from "../bare-transactions.ts";
import { effort, type Measurement, median, mustBe, p99, report, spend } from "../measure.ts";
import { lookTool, oneStepModel } from "../stub-model.ts";

const count = 2_000;

interface Round {
	/** Sessions per second. */
	readonly rate: number;
	/** Microseconds of CPU time per session. */
	readonly cpu: number;
	readonly transactions: number;
}

async function ours(path: string): Promise<Round> {
	const host = sqliteHost(path);
	const looker = agent({ model: oneStepModel(), tools: [lookTool()], host });
	let completed = 0;
	const spent = await spend(() =>
		Promise.all(
			Array.from({ length: count }, async (_, at) => {
				const run = await looker.session(`customer-${at}`).send("Look.");
				if ((await run.result()).outcome === "completed") completed++;
			}),
		),
	);
	mustBe("the number of sessions that completed", completed, count);
	const { transactions } = host.journal as SqliteJournal;
	await looker.close();
	await host.close();
	return roundOf(spent, transactions);
}

async function bare(path: string, rows: JournalRows, batches: readonly (readonly Row[])[]): Promise<Round> {
	const file = openBareFile(path, "process", { ...rows, sessions: [] });
	const spent = await spend(() => {
		file.writeSessions(rows.sessions);
		for (const batch of batches) file.write(batch);
	});
	file.close();
	rmSync(path);
	return roundOf(spent, batches.length + 1);
}

function roundOf(spent: { wall: number; cpu: number }, transactions: number): Round {
	return { rate: count / (spent.wall / 1e6), cpu: spent.cpu / count, transactions };
}

const own: Round[] = [];
const shared: Round[] = [];
const alone: Round[] = [];
let rowsEach = 0;
const repetitions = effort.repetitions(15);
for (let at = -3; at < repetitions; at++) {
	const path = `sessions-${at}.db`;
	const one = await ours(path);
	const rows = readJournalRows(path);
	rmSync(path);
	mustBe("the number of sessions in the file", rows.sessions.length, count);
	rowsEach = (rows.entries.length + rows.sessions.length) / count;
	const together = await bare(`shared-${at}.db`, rows, evenly(rows, one.transactions));
	const apart = await bare(`alone-${at}.db`, rows, byCommit(rows));
	if (at < 0) continue;
	own.push(one);
	shared.push(together);
	alone.push(apart);
}

function line(what: string, rounds: readonly Round[], target?: Measurement["target"]): Measurement {
	return {
		what,
		unit: "/s",
		median: median(rounds.map(({ rate }) => rate)),
		// For a rate, the slow end is the low one.
		p99: -p99(rounds.map(({ rate }) => -rate)),
		cpu: median(rounds.map(({ cpu }) => cpu)),
		...(target === undefined ? {} : { target }),
		note: `${rowsEach} rows a session, ${median(rounds.map(({ transactions }) => transactions))} transactions`,
	};
}

report([
	line("2,000 durable sessions at once, one tool step each", own, { is: "at least", value: 10_000 }),
	line("floor: bare transactions, as many", shared),
	line("floor: bare transactions, one a commit", alone),
]);
