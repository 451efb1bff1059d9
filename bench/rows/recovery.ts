// How fast the runs of a dead process continue: 10,000 of them on SQLite, each killed with SIGKILL after its first tool
// step, then found and finished by a process that has just opened the file. The floor reads the rows of each session and
// writes the added ones, with the same number of transactions.
import { spawn } from "node:child_process";
import { copyFileSync, existsSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { agent } from "holdfast";
import { type SqliteJournal, sqliteHost } from "holdfast/sqlite";
import { evenly, openBareFile, readJournalRows } from "../bare-transactions.ts";
import { effort, type Measurement, median, mustBe, p99, report, spend } from "../measure.ts";
import { lookTool, oneStepModel, stuckModel } from "../stub-model.ts";

const count = 10_000;
const dead = "interrupted.db";

/** The process to be killed: it reports when every run waits for its second answer. */
function workUntilKilled(): void {
	let waiting = 0;
	const looker = agent({
		model: stuckModel(() => {
			if (++waiting === count) process.stdout.write("all wait\n");
		}),
		tools: [lookTool()],
		host: sqliteHost(dead),
	});
	for (let at = 0; at < count; at++)
		void looker
			.session(`customer-${at}`)
			.send("Look.")
			.then((run) => run.result());
	setInterval(() => {}, 60_000);
}

/** Creates a file of interrupted runs. */
async function interrupt(): Promise<void> {
	const child = spawn(process.execPath, [...process.execArgv, process.argv[1] as string, "--die"], {
		stdio: ["ignore", "pipe", "inherit"],
	});
	const ended = new Promise<NodeJS.Signals | null>((resolve) =>
		child.once("exit", (_, signal) => resolve(signal)),
	);
	await Promise.race([
		new Promise((resolve) => child.stdout.once("data", resolve)),
		ended.then(() => Promise.reject(new Error("The process that was to be killed ended by itself."))),
	]);
	child.kill("SIGKILL");
	mustBe("what ended the process", await ended, "SIGKILL");
}

interface Round {
	/** Runs per second. */
	readonly rate: number;
	/** Microseconds of CPU time per run. */
	readonly cpu: number;
	readonly transactions: number;
	/** Milliseconds until the first run was resumed. */
	readonly first: number;
}

/** Opens a copy and resumes all runs. */
async function recover(path: string): Promise<Round> {
	for (const suffix of ["", "-wal"])
		if (existsSync(dead + suffix)) copyFileSync(dead + suffix, path + suffix);
	let first = 0;
	const opened = performance.now();
	let transactions = 0;
	const host = sqliteHost(path);
	const looker = agent({ model: oneStepModel(), tools: [lookTool()], host });
	const spent = await spend(async () => {
		let completed = 0;
		const over: Promise<void>[] = [];
		for await (const run of looker.recover()) {
			if (first === 0) first = performance.now() - opened;
			over.push(
				run.result().then(({ outcome }) => {
					if (outcome === "completed") completed++;
				}),
			);
		}
		await Promise.all(over);
		return completed;
	});
	mustBe("the number of runs that completed", spent.result, count);
	({ transactions } = host.journal as SqliteJournal);
	await looker.close();
	await host.close();
	return { rate: count / (spent.wall / 1e6), cpu: spent.cpu / count, transactions, first };
}

/** The minimal work: reads each session's rows, and writes those that finishing it added. */
async function floor(from: string, path: string, transactions: number): Promise<Round> {
	const rows = readJournalRows(from);
	const known = new DatabaseSync(dead, { readOnly: true });
	const { last } = known.prepare("SELECT max(id) AS last FROM entries").get() as { last: number };
	known.close();
	const before = rows.entries.filter((row) => (row[0] as number) <= last);
	const added = { ...rows, entries: rows.entries.filter((row) => (row[0] as number) > last) };
	const file = openBareFile(path, "process", rows);
	file.write(before);
	const reading = new DatabaseSync(path, { readOnly: true });
	const read = reading.prepare("SELECT * FROM entries WHERE session = ? ORDER BY seq");
	const spent = await spend(() => {
		for (const [session] of rows.sessions)
			for (const row of read.all(session as number)) JSON.parse(String(row.body));
		for (const batch of evenly(added, transactions)) file.write(batch);
	});
	reading.close();
	file.close();
	rmSync(path);
	return { rate: count / (spent.wall / 1e6), cpu: spent.cpu / count, transactions, first: 0 };
}

async function main(): Promise<void> {
	await interrupt();
	const own: Round[] = [];
	const bare: Round[] = [];
	const repetitions = effort.repetitions(5);
	for (let at = -1; at < repetitions; at++) {
		const path = `recovered-${at}.db`;
		const one = await recover(path);
		const other = await floor(path, `recovered-${at}-bare.db`, one.transactions);
		rmSync(path);
		if (at < 0) continue;
		own.push(one);
		bare.push(other);
	}
	const line = (what: string, rounds: readonly Round[]): Measurement => ({
		what,
		unit: "/s",
		median: median(rounds.map(({ rate }) => rate)),
		// For a rate, the slow end is the low one.
		p99: -p99(rounds.map(({ rate }) => -rate)),
		cpu: median(rounds.map(({ cpu }) => cpu)),
		note: `${median(rounds.map(({ transactions }) => transactions))} transactions`,
	});
	report([
		{
			...line("10,000 runs of a killed process found and finished", own),
			target: { is: "at least", value: 2_000 },
		},
		line("floor: their rows read, the new ones written", bare),
		{ what: "opening to the first run resumed", unit: "ms", median: median(own.map(({ first }) => first)) },
	]);
}

if (process.argv.includes("--die")) workUntilKilled();
else await main();
