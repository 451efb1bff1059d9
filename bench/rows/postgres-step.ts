// The cost of a durable step on Postgres compared with its floor: bare transactions that write the same entries, two per
// step, one statement per entry. Both alternate in this process, on one server with synchronous commits.
import { postgresHost } from "@holdfast/postgres";
import { startPostgresServer } from "@holdfast/testing/postgres-server";
import { agent } from "holdfast";
import { type BareResult, writeBare } from "../bare-postgres.ts";
import { effort, gaps, mean, median, mustBe, p99, report } from "../measure.ts";
import { lookTool, steppingModel } from "../stub-model.ts";

const steps = effort.size(1_000, 200);
const rounds = effort.repetitions(7);
const server = await startPostgresServer({ fsync: "yes" });

async function ours(schema: string): Promise<readonly number[]> {
	const times: number[] = [];
	const host = postgresHost({ connectionString: server.url, schema });
	const tools = [lookTool(() => times.push(performance.now()))];
	const looker = agent({ model: steppingModel(steps, "whole"), tools, host });
	const { outcome } = await (await looker.session("customer").send("Look.")).result();
	mustBe("the outcome", outcome, "completed");
	await looker.close();
	await host.close();
	return gaps(times).map((gap) => gap * 1000);
}

try {
	const own: (readonly number[])[] = [];
	const bare: BareResult[] = [];
	for (let at = -1; at < rounds; at++) {
		const schema = server.schema();
		const one = await ours(schema);
		const other = await writeBare(server.url, schema);
		if (at < 0) continue;
		own.push(one);
		bare.push(other);
	}
	const floors = bare.map((round) => round.steps);
	const ratio = median(own.map((round, at) => median(round) / median(floors[at] as readonly number[])));
	const flat = own.map((round) => mean(round.slice(-100)) / mean(round.slice(0, 100)));
	report([
		{ what: "durable step, Postgres", unit: "µs", median: median(own.flat()), p99: p99(own.flat()) },
		{
			what: "floor: bare transactions, Postgres",
			unit: "µs",
			median: median(floors.flat()),
			p99: p99(floors.flat()),
		},
		{
			what: "durable step to its floor, medians, Postgres",
			unit: "×",
			median: ratio,
			target: { is: "at most", value: 2 },
		},
		{
			what: "last 100 steps to the first, Postgres",
			unit: "×",
			median: median(flat),
			target: { is: "at most", value: 1.3 },
		},
	]);
} finally {
	await server.stop();
}
