// How many tasks of sub-agents are started in the background and completed on SQLite: many sessions with a task each, and
// few with many. A task counts when its end is committed and its parent's session has been notified. The floor omits the
// rows of inboxes and of notifications.
import { rmSync } from "node:fs";
import { agent } from "holdfast";
import { definePlugin } from "holdfast/plugins";
import { type SqliteJournal, sqliteHost } from "holdfast/sqlite";
import { evenly, openBareFile, readJournalRows } from "../bare-transactions.ts";
import { effort, type Measurement, median, mustBe, p99, report, spend } from "../measure.ts";
import { delegatingModel, steppingModel } from "../stub-model.ts";

const tasks = 2_000;

interface Round {
	/** Tasks per second. */
	readonly rate: number;
	/** Microseconds of CPU time per task. */
	readonly cpu: number;
	readonly transactions: number;
}

async function ours(path: string, parents: number): Promise<Round> {
	const host = sqliteHost(path);
	let completed = 0;
	const done = Promise.withResolvers<void>();
	const counting = definePlugin({
		name: "counting",
		setup(plugin) {
			plugin.on("turn.after", ({ result }) => {
				if (result === "completed" && ++completed === tasks) done.resolve();
			});
		},
	});
	const worker = agent({
		name: "worker",
		description: "Works.",
		model: steppingModel(0, "whole"),
		plugins: [counting],
	});
	const parent = agent({ model: delegatingModel(), subagents: [worker], host });
	const spent = await spend(async () => {
		const each = String(tasks / parents);
		await Promise.all(
			Array.from({ length: parents }, async (_, at) => {
				const run = await parent.session(`customer-${at}`).send(each);
				mustBe("how a parent's run ended", (await run.result()).outcome, "completed");
			}),
		);
		await done.promise;
		await parent.close(); // After every parent was notified.
	});
	const { transactions } = host.journal as SqliteJournal;
	let notified = 0;
	for (const { key, waiting } of await host.journal.list())
		if (key.startsWith("customer-")) notified += Number(waiting > 0);
	mustBe("the number of parents that were notified", notified, parents);
	await host.close();
	return { rate: tasks / (spent.wall / 1e6), cpu: spent.cpu / tasks, transactions };
}

async function floor(from: string, path: string, transactions: number): Promise<Round> {
	const rows = readJournalRows(from);
	const file = openBareFile(path, "process", { ...rows, sessions: [] });
	const spent = await spend(() => {
		file.writeSessions(rows.sessions);
		for (const batch of evenly(rows, transactions)) file.write(batch);
	});
	file.close();
	rmSync(path);
	return { rate: tasks / (spent.wall / 1e6), cpu: spent.cpu / tasks, transactions };
}

async function measure(parents: number): Promise<Measurement[]> {
	const own: Round[] = [];
	const bare: Round[] = [];
	const repetitions = effort.repetitions(7);
	for (let at = -2; at < repetitions; at++) {
		const path = `jobs-${parents}-${at}.db`;
		const one = await ours(path, parents);
		const other = await floor(path, `jobs-${parents}-${at}-bare.db`, one.transactions);
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
	const from = `${parents.toLocaleString("en")} sessions`;
	return [
		{ ...line(`2,000 tasks in the background, from ${from}`, own), target: { is: "at least", value: 2_000 } },
		line(`floor: rows of log and sessions written bare, from ${from}`, bare),
	];
}

report([...(await measure(2_000)), ...(await measure(20))]);
