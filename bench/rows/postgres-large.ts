// The cost of sessions in a large store on Postgres, compared with an empty store, alternately on one server. A tenth of
// the sessions have an open run that waits. `--sessions N` and `--entries N` set how many are generated; the default
// store is modest.
import { type PostgresHost, postgresHost } from "@holdfast/postgres";
import { type PostgresServer, startPostgresServer } from "@holdfast/testing/postgres-server";
import type { Lease } from "holdfast/host";
import { effort, type Measurement, median, p99, report } from "../measure.ts";

function option(name: string, standard: number): number {
	const at = process.argv.indexOf(name);
	return at < 0 ? standard : Number(process.argv[at + 1]);
}

const sessions = option("--sessions", effort.size(100_000, 10_000));
const entriesEach = option("--entries", effort.size(10, 5));
const rounds = effort.size(300, 60);
const never = Number.MAX_SAFE_INTEGER;

/** Rows are written without their indexes, which are then created in one pass each. */
async function generate(server: PostgresServer, schema: string): Promise<void> {
	const began = performance.now();
	const tables = `n.nspname = '${schema}' AND c.relname IN ('sessions', 'entries')`;
	const constraints = await server.query<{ drop: string; make: string }>(
		`SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', c.oid::regclass, k.conname) AS drop,
			format('ALTER TABLE %s ADD CONSTRAINT %I %s', c.oid::regclass, k.conname, pg_get_constraintdef(k.oid)) AS make
			FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
			WHERE k.contype IN ('p', 'u') AND ${tables}`,
	);
	const indexes = await server.query<{ drop: string; make: string }>(
		`SELECT format('DROP INDEX %s', i.indexrelid::regclass) AS drop, pg_get_indexdef(i.indexrelid) AS make
			FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_namespace n ON n.oid = c.relnamespace
			WHERE ${tables} AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = i.indexrelid)`,
	);
	for (const { drop } of [...constraints, ...indexes]) await server.query(drop);
	// Must match the host's digests of its keys.
	const key = "('many ' || n)";
	const digest = `left(encode(sha256(convert_to(length(${key}) || ' ' || ${key}, 'UTF8')), 'hex'), 32)::uuid`;
	await server.query(
		`INSERT INTO ${schema}.sessions (id, digest, key, incarnation, epoch, open_run, look_at, seq, last_kind, version, changed, created_at, updated_at)
			OVERRIDING SYSTEM VALUE SELECT n + 1000, ${digest}, ${key}, gen_random_uuid()::text, 1,
			CASE WHEN n % 10 = 0 THEN 'run ' || n END, CASE WHEN n % 10 = 0 THEN ${never} END, ${entriesEach},
			CASE WHEN n % 10 = 0 THEN 'waiting' ELSE 'run.ended' END, 1, n + 1, n, n FROM generate_series(0, ${sessions - 1}) n`,
	);
	const step = 20_000;
	for (let from = 0; from < sessions; from += step)
		await server.query(
			`INSERT INTO ${schema}.entries (session, seq, at, position, version, kind, run_id, body)
				SELECT n + 1000, seq, n, CASE WHEN seq % 2 = 0 THEN n::bigint * ${entriesEach} + seq END, 1, CASE WHEN seq = 1 THEN 'run.started' WHEN seq < ${entriesEach} THEN 'note'
					WHEN n % 10 = 0 THEN 'waiting' ELSE 'run.ended' END, 'run ' || n,
				CASE WHEN seq = ${entriesEach} AND n % 10 = 0 THEN '{"calls":[]}' WHEN seq = ${entriesEach} THEN '{"outcome":"completed"}'
					ELSE '{"step":1,"topic":"test","value":"' || repeat('x', 200) || '"}' END
				FROM generate_series(${from}, ${Math.min(from + step, sessions) - 1}) n, generate_series(1, ${entriesEach}) seq`,
		);
	for (const { make } of [...constraints, ...indexes]) await server.query(make);
	await server.query(
		`SELECT setval(pg_get_serial_sequence('${schema}.sessions', 'id'), ${sessions + 1_000})`,
	);
	await server.query(
		`UPDATE ${schema}.meta SET value = ${sessions * (entriesEach + 1)} WHERE name = 'position_base'`,
	);
	await server.query(`VACUUM ANALYZE ${schema}.sessions, ${schema}.entries`);
	await server.query("CHECKPOINT");
	const [size] = await server.query<{ size: string }>(
		`SELECT pg_size_pretty(sum(pg_total_relation_size(c.oid))) AS size FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
			WHERE ${tables}`,
	);
	process.stderr.write(`generated ${size?.size} in ${Math.round((performance.now() - began) / 1_000)} s\n`);
}

async function open(host: PostgresHost, key: string): Promise<Lease> {
	const acquired = await host.journal.acquire(key);
	if (!acquired.ok) throw new Error(`${key} is held by ${acquired.heldBy}`);
	await acquired.lease.append({ at: 1, runId: `run of ${key}`, facts: [started] });
	return acquired.lease;
}

const started = { kind: "run.started", runKind: "user-turn", agentId: "a", fingerprint: "f" } as const;
const note = { kind: "note", step: 1, topic: "test", value: 1 } as const;

/** The operations on a store, each called once per round. */
const calls: readonly (readonly [
	what: string,
	call: (host: PostgresHost, round: number, lease: Lease) => unknown,
])[] = [
	["open a new session", (host, round) => open(host, `new ${round}`)],
	["append", (_, __, lease) => lease.append({ at: 1, runId: "run of kept", facts: [note] })],
	["list a page of 50", (host) => host.journal.list({ limit: 50, prefix: "new " })],
	["read a session", (host) => host.journal.read("kept", { limit: 10 })],
	["list what is due", (host) => host.journal.list({ state: "waiting", dueBy: Date.now(), limit: 50 })],
	[
		"read the changes since a position",
		async (host) => host.changes.read({ after: await host.changes.position() }),
	],
];

const server = await startPostgresServer({
	fsync: "yes",
	settings: {
		max_connections: 100,
		shared_buffers: "512MB",
		max_wal_size: "8GB",
		maintenance_work_mem: "512MB",
	},
});
try {
	const stores: { host: PostgresHost; lease: Lease; times: number[][] }[] = [];
	for (const isLarge of [false, true]) {
		const schema = server.schema();
		const host = postgresHost({ connectionString: server.url, schema });
		await host.journal.head("any");
		if (isLarge) await generate(server, schema);
		stores.push({ host, lease: await open(host, "kept"), times: calls.map(() => []) });
	}
	for (let round = -20; round < rounds; round++)
		for (const { host, lease, times } of stores)
			for (const [at, [, call]] of calls.entries()) {
				const began = performance.now();
				await call(host, round, lease);
				if (round >= 0) times[at]?.push((performance.now() - began) * 1_000);
			}
	const [empty, large] = stores;
	const note = `${sessions.toLocaleString("en")} sessions of ${entriesEach} entries, ${Math.ceil(sessions / 10).toLocaleString("en")} of them wait`;
	report(
		calls.flatMap(([what], at): Measurement[] => {
			const [without, within] = [empty?.times[at] ?? [], large?.times[at] ?? []];
			return [
				{ what: `${what}, many sessions, Postgres`, unit: "µs", median: median(within), p99: p99(within) },
				{
					what: `${what}: many sessions to none, Postgres`,
					unit: "×",
					median: median(within) / median(without),
					target: { is: "at most", value: 1.5 },
					note,
				},
			];
		}),
	);
	for (const { host } of stores) await host.close();
} finally {
	await server.stop();
}
