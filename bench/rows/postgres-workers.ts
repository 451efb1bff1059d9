// Short runs that worker processes complete end to end on one Postgres: submitted, handed out, started, answered and
// ended, by the submitter's clock, with as many in flight as the workers take. One worker and two (four with eight cores)
// take turns in one run. Then two work at half their capacity, and the time from an input's commit to its run is
// measured.
import { availableParallelism } from "node:os";
import { type PostgresHost, postgresHost } from "@holdfast/postgres";
import { type PostgresServer, startPostgresServer } from "@holdfast/testing/postgres-server";
import { effort, type Measurement, median, mustBe, p99, report } from "../measure.ts";
import { cpuOfTree, type Fleet, startFleet, submit } from "../worker-fleet.ts";

/** Runs in flight: submitted but not ended. */
const underWay = 300;
const runs = effort.size(3_000, 600);
/** Runs before the measurement starts. */
const warm = effort.size(600, 200);

const words: Readonly<Record<number, string>> = { 1: "one worker", 2: "two workers", 4: "four workers" };

interface Rate {
	/** Runs per second. */
	readonly rate: number;
	/** Microseconds of CPU time per run. */
	readonly workers: number;
	readonly postgres: number;
}

/** Runs workers on a separate store. */
async function withFleet<T>(
	server: PostgresServer,
	workers: number,
	measured: (fleet: Fleet, host: PostgresHost) => Promise<T>,
): Promise<T> {
	const schema = server.schema();
	const host = postgresHost({ connectionString: server.url, schema });
	const fleet = await startFleet(workers, server.url, schema);
	try {
		const result = await measured(fleet, host);
		const [row] = await server.query<{ ended: string; left: string }>(
			`SELECT (SELECT count(*) FROM ${schema}.sessions WHERE last_kind = 'run.ended') AS ended,
				(SELECT count(*) FROM ${schema}.sessions WHERE last_kind IS DISTINCT FROM 'run.ended') AS left`,
		);
		mustBe("the runs that ended", Number(row?.ended), fleet.ended);
		mustBe("the runs that did not", Number(row?.left), 0);
		return result;
	} finally {
		await fleet.stop();
		await host.close();
	}
}

/** Returns the runs that end per second while more are always waiting. */
async function rateOf(server: PostgresServer, workers: number): Promise<Rate> {
	return withFleet(server, workers, async (fleet, host) => {
		const postgres = (): number => (server.process?.pid && cpuOfTree(server.process.pid)) || 0;
		let submitted = 0;
		let began = 0;
		let from = { at: 0, ended: 0, fleet: 0, postgres: 0 };
		const last = warm + runs + underWay;
		for (;;) {
			while (submitted < last && submitted - fleet.ended < underWay)
				void submit(host, `customer-${submitted++}`);
			if (began === 0 && fleet.ended >= warm) {
				await fleet.heard();
				began = fleet.ended;
				from = { at: performance.now(), ended: began, fleet: fleet.cpu, postgres: postgres() };
			}
			if (began > 0 && fleet.ended >= began + runs) break;
			await fleet.until(fleet.ended + 1);
		}
		await fleet.heard();
		const count = fleet.ended - from.ended;
		const result = {
			rate: (count * 1_000) / (performance.now() - from.at),
			workers: (fleet.cpu - from.fleet) / count,
			postgres: (postgres() - from.postgres) / count,
		};
		await fleet.until(submitted);
		return result;
	});
}

/**
 * Returns the milliseconds from the commit of an input to the first call of its run's model, at a given rate per second.
 */
async function latencies(server: PostgresServer, rate: number): Promise<readonly number[]> {
	return withFleet(server, 2, async (fleet, host) => {
		const committed = new Map<string, number>();
		const began = performance.now();
		for (let at = 0; at < warm + runs; at++) {
			const wait = began + (at * 1_000) / rate - performance.now();
			if (wait > 1) await new Promise((resolve) => setTimeout(resolve, wait));
			const key = `customer-${at}`;
			void submit(host, key).then(() => at >= warm && committed.set(key, Date.now()));
		}
		await fleet.until(warm + runs);
		await fleet.heard();
		return [...committed].map(([key, from]) => Math.max(0, (fleet.called.get(key) ?? Number.NaN) - from));
	});
}

const server = await startPostgresServer({ fsync: "yes", settings: { max_connections: 200 } });
try {
	const cores = availableParallelism();
	const counts = cores >= 8 ? [1, 2, 4] : [1, 2];
	const rates = new Map<number, Rate[]>(counts.map((count) => [count, []]));
	for (let round = -1; round < effort.repetitions(3); round++)
		for (const count of counts) {
			const rate = await rateOf(server, count);
			if (round >= 0) rates.get(count)?.push(rate);
		}
	const of = (count: number, what: keyof Rate): readonly number[] =>
		(rates.get(count) ?? []).map((rate) => rate[what]);
	const ratio = (count: number, what: keyof Rate): number =>
		median(of(count, what).map((number, at) => number / (of(1, what)[at] as number)));
	const costs = (count: number): string => {
		const [workers, postgres] = (["workers", "postgres"] as const).map((what) => median(of(count, what)));
		return `CPU a run: workers ${Math.round(workers ?? 0)} µs, Postgres ${Math.round(postgres ?? 0)} µs; ${cores} cores for all`;
	};
	/**
	 * Postgres and the submitters need cores in addition to the workers; without spare cores, more workers gain nothing.
	 */
	const hasCores = (count: number): boolean => cores >= 2 * count + 2;
	const measurements: Measurement[] = counts.map((count) => ({
		what: `short runs end to end, ${words[count]}, Postgres`,
		unit: "/s",
		median: median(of(count, "rate")),
		note: costs(count),
		...(count === 2 ? { target: { is: "at least", value: 1_000 } } : {}),
	}));
	for (const count of counts.slice(1)) {
		measurements.push({
			what: `${words[count]} to one, Postgres`,
			unit: "×",
			median: ratio(count, "rate"),
			...(hasCores(count)
				? { target: { is: "at least", value: count === 2 ? 1.7 : 2.5 } }
				: { note: `no target on ${cores} cores` }),
		});
	}
	const waits = await latencies(server, median(of(2, "rate")) / 2);
	for (const [name, of, value] of [
		["p50", median, 10],
		["p99", p99, 50],
	] as const)
		measurements.push({
			what: `from an input to its run at half load, ${name}, Postgres`,
			unit: "ms",
			median: of(waits),
			target: { is: "at most", value },
		});
	report(measurements);
} finally {
	await server.stop();
}
