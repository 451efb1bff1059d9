// The cost of many waiting sessions: parked runs that wait for an approval, and runs with a deadline a day away, in a
// store with a worker. It is compared with an empty store, alternately on one server. Measures the idle cost of worker
// and database, then the time from the commit of a single message to the call of its model.
import { type PostgresHost, postgresHost } from "@holdfast/postgres";
import { type PostgresServer, startPostgresServer } from "@holdfast/testing/postgres-server";
import { effort, type Measurement, median, mustBe, p99, report } from "../measure.ts";
import { cpuOfTree, type Fleet, startFleet, submit } from "../worker-fleet.ts";

const sessions = effort.size(100_000, 10_000);
/** Milliseconds of idle time. */
const quietMs = effort.size(60_000, 8_000);
const messages = effort.size(100, 30);
const never = Number.MAX_SAFE_INTEGER;
const dayMs = 86_400_000;

/** Half of them wait for an approval, the others for a deadline. */
async function generate(server: PostgresServer, schema: string): Promise<void> {
	// Must match the host's digests of its keys.
	const key = "('many ' || n)";
	const digest = `left(encode(sha256(convert_to(length(${key}) || ' ' || ${key}, 'UTF8')), 'hex'), 32)::uuid`;
	const now = Date.now();
	await server.query(
		`INSERT INTO ${schema}.sessions (digest, key, incarnation, epoch, open_run, look_at, seq, last_kind, version, changed, created_at, updated_at)
			SELECT ${digest}, ${key}, gen_random_uuid()::text, 1, 'run ' || n,
				CASE WHEN n % 2 = 0 THEN ${never} ELSE ${now + dayMs} + n END, 2, 'waiting', 1, n + 1, ${now}, ${now}
			FROM generate_series(1, ${sessions}) n`,
	);
	await server.query(
		`INSERT INTO ${schema}.entries (session, seq, at, version, kind, run_id, body)
			SELECT id, 1, created_at, 1, 'run.started', open_run, '{"runKind":"user-turn","agentId":"a","fingerprint":"f"}' FROM ${schema}.sessions
			UNION ALL SELECT id, 2, created_at, 1, 'waiting', open_run, '{"calls":[]}' FROM ${schema}.sessions`,
	);
	await server.query(`UPDATE ${schema}.meta SET value = ${sessions + 1} WHERE name = 'position_base'`);
	await server.query(`VACUUM ANALYZE ${schema}.sessions, ${schema}.entries`);
	await server.query("CHECKPOINT");
}

interface Cost {
	/** Milliseconds of CPU time per second. */
	readonly worker: number;
	readonly postgres: number;
	/** Milliseconds from the commit of each message to the call of its model. */
	readonly waits: readonly number[];
}

/** The idle cost of a worker and the database, and the latency of a message. */
async function costOf(
	server: PostgresServer,
	host: PostgresHost,
	schema: string,
	round: number,
): Promise<Cost> {
	const fleet = await startFleet(1, server.url, schema);
	try {
		// The startup is not measured, because it scans everything.
		await submit(host, `warm ${round}`);
		await fleet.until(1);
		await new Promise((resolve) => setTimeout(resolve, 3_000));
		const spent = await quiet(server, fleet);
		const committed = new Map<string, number>();
		for (let at = 0; at < messages; at++) {
			const key = `live ${round} ${at}`;
			const before = fleet.ended;
			await submit(host, key);
			committed.set(key, Date.now());
			await fleet.until(before + 1);
		}
		await fleet.heard();
		const waits = [...committed].map(([key, from]) =>
			Math.max(0, (fleet.called.get(key) ?? Number.NaN) - from),
		);
		mustBe("the messages whose model was called", waits.filter((wait) => wait >= 0).length, messages);
		return { ...spent, waits };
	} finally {
		await fleet.stop();
	}
}

async function quiet(server: PostgresServer, fleet: Fleet): Promise<{ worker: number; postgres: number }> {
	const postgres = (): number => (server.process?.pid && cpuOfTree(server.process.pid)) || 0;
	await fleet.heard();
	const from = { at: performance.now(), worker: fleet.cpu, postgres: postgres() };
	await new Promise((resolve) => setTimeout(resolve, quietMs));
	await fleet.heard();
	const seconds = (performance.now() - from.at) / 1_000;
	return {
		worker: (fleet.cpu - from.worker) / 1_000 / seconds,
		postgres: (postgres() - from.postgres) / 1_000 / seconds,
	};
}

const server = await startPostgresServer({ fsync: "yes", settings: { max_connections: 100 } });
try {
	const stores: { host: PostgresHost; schema: string; costs: Cost[] }[] = [];
	for (const isLarge of [false, true]) {
		const schema = server.schema();
		const host = postgresHost({ connectionString: server.url, schema });
		await host.journal.head("any");
		if (isLarge) await generate(server, schema);
		stores.push({ host, schema, costs: [] });
	}
	for (let round = 0; round < effort.size(2, 1); round++)
		for (const { host, schema, costs } of stores) costs.push(await costOf(server, host, schema, round));
	const [empty = [], waiting = []] = stores.map(({ costs }) => costs);
	const spent = (costs: readonly Cost[]): number =>
		median(costs.map(({ worker, postgres }) => worker + postgres));
	const parts = (costs: readonly Cost[]): string =>
		`worker ${median(costs.map(({ worker }) => worker)).toFixed(1)}, Postgres ${median(costs.map(({ postgres }) => postgres)).toFixed(1)}`;
	const [without, within] = [empty, waiting].map((costs) => costs.flatMap(({ waits }) => waits)) as [
		number[],
		number[],
	];
	const count = sessions.toLocaleString("en");
	const measurements: Measurement[] = [
		{ what: "CPU at rest, no session, Postgres", unit: "ms/s", median: spent(empty), note: parts(empty) },
		{
			what: `CPU at rest, ${count} sessions wait, Postgres`,
			unit: "ms/s",
			median: spent(waiting),
			note: parts(waiting),
		},
		{
			what: `${count} sessions that wait cost, of a core, Postgres`,
			unit: "%",
			median: Math.max(0, (spent(waiting) - spent(empty)) / 10),
			target: { is: "at most", value: 1 },
		},
		{
			what: "from an input to its run, no session waits, Postgres",
			unit: "ms",
			median: median(without),
			p99: p99(without),
		},
		{
			what: `from an input to its run, ${count} sessions wait, Postgres`,
			unit: "ms",
			median: median(within),
			p99: p99(within),
		},
		{
			what: `from an input to its run: ${count} sessions that wait to none, Postgres`,
			unit: "×",
			median: median(within) / median(without),
			target: { is: "at most", value: 1.3 },
		},
	];
	report(measurements);
	for (const { host } of stores) await host.close();
} finally {
	await server.stop();
}
