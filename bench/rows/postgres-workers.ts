// Short runs that worker processes get done end to end on one Postgres: submitted, handed out, begun, answered and ended. One
// worker and two (four where there are eight cores) take turns in one run; then two work at half of what they could, and how
// long it takes from an input's commit to its run is measured.
import { type ChildProcess, fork } from "node:child_process";
import { availableParallelism } from "node:os";
import { type PostgresHost, postgresHost } from "@holdfast/postgres";
import { type PostgresServer, startPostgresServer } from "@holdfast/testing/postgres-server";
import { messageToJSON, UserMessage } from "@holdfast/upp";
import { agent } from "holdfast";
import { effort, type Measurement, median, mustBe, p99, report } from "../measure.ts";
import { steppingModel } from "../stub-model.ts";

const [, , role, connectionString = "", schema = ""] = process.argv;

if (role === "worker") await work();
else await measure();

/** Says "ready" when it is connected, and "taking" when what comes is handed out to it, which is when it was told to begin. */
async function work(): Promise<void> {
	const host = postgresHost({ connectionString, schema });
	await host.journal.head("any");
	const stop = new AbortController();
	const begin = Promise.withResolvers<void>();
	process.on("message", (message) => (message === "begin" ? begin.resolve() : stop.abort()));
	process.send?.("ready");
	await begin.promise;
	const queue: PostgresHost["queue"] = {
		async take(taker) {
			const taking = await host.queue.take(taker);
			process.send?.("taking");
			return taking;
		},
	};
	const worker = agent({ model: steppingModel(0, "whole"), host: { ...host, queue } });
	for await (const run of worker.work({ signal: stop.signal, onProblem: () => {} })) void run.result();
	await worker.close();
	await host.close();
	process.disconnect();
}

async function submit(host: PostgresHost, key: string): Promise<void> {
	const id = globalThis.crypto.randomUUID();
	const message = messageToJSON(new UserMessage("Hello.", { id }));
	await host.journal.submit(key, { id, kind: "message", runId: id, body: { shape: "text", message } });
}

/** Workers that are ready to begin. */
async function startWorkers(count: number, url: string, name: string): Promise<readonly ChildProcess[]> {
	const workers = Array.from({ length: count }, () =>
		fork(import.meta.filename, ["worker", url, name], { stdio: ["ignore", "ignore", "inherit", "ipc"] }),
	);
	await Promise.all(workers.map(heard));
	return workers;
}

/** Resolves when all of them take. */
async function begin(workers: readonly ChildProcess[]): Promise<void> {
	const taking = workers.map(heard);
	for (const worker of workers) worker.send("begin");
	await Promise.all(taking);
}

/** Resolves with the next thing a worker says. */
function heard(worker: ChildProcess): Promise<unknown> {
	return new Promise((resolve, reject) => {
		worker.once("message", resolve);
		worker.once("exit", (code) => reject(new Error(`A worker ended with ${code}.`)));
	});
}

async function stopWorkers(workers: readonly ChildProcess[]): Promise<void> {
	await Promise.all(
		workers.map(
			(worker) =>
				new Promise((resolve) => {
					worker.once("exit", resolve);
					worker.send("stop");
				}),
		),
	);
}

async function endedRuns(server: PostgresServer, name: string): Promise<number> {
	const [row] = await server.query<{ count: string }>(
		`SELECT count(*) AS count FROM ${name}.sessions WHERE last_kind = 'run.ended'`,
	);
	return Number(row?.count);
}

async function until(server: PostgresServer, name: string, count: number): Promise<void> {
	while ((await endedRuns(server, name)) < count) await new Promise((resolve) => setTimeout(resolve, 100));
}

/** Runs a second, between the ends of the first tenth and of nine tenths of them: starting up is no part of it. */
async function rateOf(server: PostgresServer, workers: number, runs: number): Promise<number> {
	const name = server.schema();
	const host = postgresHost({ connectionString: server.url, schema: name });
	try {
		// A first worker makes the queue, so that what is submitted afterwards is in it.
		const first = await startWorkers(1, server.url, name);
		await begin(first);
		await stopWorkers(first);
		await Promise.all(Array.from({ length: runs }, (_, at) => submit(host, `customer-${at}`)));
		const started = await startWorkers(workers, server.url, name);
		await begin(started);
		await until(server, name, runs);
		await stopWorkers(started);
		const ends = await server.query<{ at: string }>(
			`SELECT at FROM ${name}.entries WHERE kind = 'run.ended' ORDER BY at`,
		);
		mustBe("the runs that ended", ends.length, runs);
		const [from, to] = [Math.floor(runs / 10), Math.floor((runs * 9) / 10)];
		return ((to - from) * 1_000) / (Number(ends[to]?.at) - Number(ends[from]?.at));
	} finally {
		await host.close();
	}
}

/** Milliseconds from the commit of an input to the start of its run, at so many a second. */
async function latencies(server: PostgresServer, rate: number, runs: number): Promise<readonly number[]> {
	const name = server.schema();
	const host = postgresHost({ connectionString: server.url, schema: name });
	const workers = await startWorkers(2, server.url, name);
	try {
		await begin(workers);
		const warm = 50;
		const submitted = new Map<string, number>();
		const pending: Promise<void>[] = [];
		const began = performance.now();
		for (let at = 0; at < runs + warm; at++) {
			const wait = began + (at * 1_000) / rate - performance.now();
			if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
			const key = `customer-${at}`;
			pending.push(
				submit(host, key).then(() => {
					if (at >= warm) submitted.set(key, performance.timeOrigin + performance.now());
				}),
			);
		}
		await Promise.all(pending);
		await until(server, name, runs + warm);
		const begins = await server.query<{ key: string; at: string }>(
			`SELECT s.key, e.at FROM ${name}.entries e JOIN ${name}.sessions s ON s.id = e.session WHERE e.kind = 'run.started'`,
		);
		return begins.flatMap(({ key, at }) => {
			const from = submitted.get(key);
			return from === undefined ? [] : [Math.max(0, Number(at) - from)];
		});
	} finally {
		await stopWorkers(workers);
		await host.close();
	}
}

async function measure(): Promise<void> {
	const server = await startPostgresServer({ fsync: "yes", settings: { max_connections: 200 } });
	try {
		const runs = effort.size(1_500, 300);
		const counts = availableParallelism() >= 8 ? [1, 2, 4] : [1, 2];
		const rates = new Map<number, number[]>(counts.map((count) => [count, []]));
		for (let round = -1; round < effort.repetitions(3); round++)
			for (const count of counts) {
				const rate = await rateOf(server, count, runs);
				if (round >= 0) rates.get(count)?.push(rate);
			}
		const of = (count: number): readonly number[] => rates.get(count) ?? [];
		const ratio = (count: number): number =>
			median(of(count).map((rate, at) => rate / (of(1)[at] as number)));
		const cores = `${availableParallelism()} cores, which the workers share with Postgres`;
		const measurements: Measurement[] = [
			{ what: "short runs end to end, one worker, Postgres", unit: "/s", median: median(of(1)) },
			{
				what: "short runs end to end, two workers, Postgres",
				unit: "/s",
				median: median(of(2)),
				target: { is: "at least", value: 1_000 },
				note: cores,
			},
			{
				what: "two workers to one, Postgres",
				unit: "×",
				median: ratio(2),
				target: { is: "at least", value: 1.7 },
				note: cores,
			},
		];
		if (counts.includes(4))
			measurements.push({
				what: "four workers to one, Postgres",
				unit: "×",
				median: ratio(4),
				target: { is: "at least", value: 2.5 },
			});
		const waits = await latencies(server, median(of(2)) / 2, effort.size(1_500, 300));
		measurements.push(
			{
				what: "from an input to its run at half load, p50, Postgres",
				unit: "ms",
				median: median(waits),
				target: { is: "at most", value: 10 },
			},
			{
				what: "from an input to its run at half load, p99, Postgres",
				unit: "ms",
				median: p99(waits),
				target: { is: "at most", value: 50 },
			},
		);
		report(measurements);
	} finally {
		await server.stop();
	}
}
