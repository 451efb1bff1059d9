// How many steps per second one process completes on Postgres, in one session and in 500 at once, whose commits are
// shared.
import { type PostgresJournal, postgresHost } from "@holdfast/postgres";
import { startPostgresServer } from "@holdfast/testing/postgres-server";
import { agent } from "holdfast";
import { effort, type Measurement, median, mustBe, report } from "../measure.ts";
import { lookTool, steppingModel } from "../stub-model.ts";

const rounds = effort.repetitions(5);
const server = await startPostgresServer({ fsync: "yes" });

interface Round {
	/** Steps per second. */
	readonly rate: number;
	readonly transactions: number;
}

async function busy(sessions: number, steps: number): Promise<Round> {
	const host = postgresHost({ connectionString: server.url, schema: server.schema() });
	const looker = agent({ model: steppingModel(steps, "whole"), tools: [lookTool()], host });
	await host.journal.head("none"); // the tables are there
	const began = performance.now();
	const outcomes = await Promise.all(
		Array.from({ length: sessions }, async (_, at) => {
			const run = await looker.session(`customer-${at}`).send("Look.");
			return (await run.result()).outcome;
		}),
	);
	const seconds = (performance.now() - began) / 1000;
	mustBe("the sessions that completed", outcomes.filter((each) => each === "completed").length, sessions);
	const { transactions } = host.journal as PostgresJournal;
	await looker.close();
	await host.close();
	return { rate: (sessions * steps) / seconds, transactions };
}

function line(what: string, all: readonly Round[]): Measurement {
	const note = `${median(all.map(({ transactions }) => transactions))} transactions`;
	return { what, unit: "/s", median: median(all.map(({ rate }) => rate)), note };
}

try {
	const one: Round[] = [];
	const many: Round[] = [];
	for (let at = -1; at < rounds; at++) {
		const alone = await busy(1, effort.size(400, 100));
		const together = await busy(500, effort.size(20, 8));
		if (at < 0) continue;
		one.push(alone);
		many.push(together);
	}
	const ratio = median(many.map(({ rate }, at) => rate / (one[at] as Round).rate));
	report([
		line("steps of one session, Postgres", one),
		line("steps of 500 sessions at once, Postgres", many),
		{ what: "500 sessions to one, Postgres", unit: "×", median: ratio, target: { is: "at least", value: 5 } },
	]);
} finally {
	await server.stop();
}
