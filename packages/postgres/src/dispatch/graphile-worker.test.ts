// The undocumented parts of graphile-worker in use: its table of jobs, and its local queue. It is pinned to the verified
// releases; verify a later one here first.
import { EventEmitter } from "node:events";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Logger, run, type WorkerEvents } from "graphile-worker";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { testServer } from "../test-server.fixture.ts";
import { inputOf, openHost, storeOfEachTest, takeFrom } from "./dispatch.fixture.ts";
import { fetchByRoom } from "./fetch-by-room.ts";
import { mostAttempts, task } from "./install.ts";
import { PatientPool } from "./patient-pool.ts";

const schema = "graphile_jobs";
const store = storeOfEachTest();

interface Looked {
	/** How many jobs each statement fetched. */
	readonly fetched: number[];
}

/** A runner that fetches by room, and works as the task does. */
async function runnerOf(concurrency: number, work: () => Promise<void>): Promise<Looked> {
	const { url } = await testServer();
	const events: WorkerEvents = new EventEmitter();
	const checkFit = fetchByRoom(events);
	const fetched: number[] = [];
	events.on("localQueue:getJobs:complete", ({ jobs }) => fetched.push(jobs.length));
	const pgPool = new PatientPool({ connectionString: url, max: 4 });
	const runner = await run({
		pgPool,
		schema,
		concurrency,
		preset: { worker: { localQueue: { size: concurrency } } },
		noHandleSignals: true,
		crontab: "",
		logger: new Logger(() => () => {}),
		taskList: { task: work },
		events,
	});
	onTestFinished(async () => {
		await runner.stop();
		await pgPool.end();
	});
	checkFit();
	return { fetched };
}

test("graphile-worker is a release whose internals are supported", () => {
	const entry = createRequire(import.meta.url).resolve("graphile-worker");
	const read = (file: string | URL) => JSON.parse(readFileSync(file, "utf8"));
	expect(read(new URL("../../package.json", import.meta.url)).dependencies["graphile-worker"]).toBe(
		"~0.18.0",
	);
	expect(read(join(dirname(entry), "..", "package.json")).version).toMatch(/^0\.18\./);
});

test("graphile-worker's table of jobs has the columns that turns, searches and statistics read", async () => {
	await runnerOf(1, async () => {});
	const server = await testServer();
	const columns = await server.query<{ column_name: string; data_type: string }>(
		"SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = $1 AND table_name = '_private_jobs'",
		[schema],
	);
	const types = Object.fromEntries(columns.map((column) => [column.column_name, column.data_type]));
	expect(types).toMatchObject({
		id: "bigint",
		key: "text",
		payload: "json",
		priority: "smallint",
		attempts: "smallint",
		run_at: "timestamp with time zone",
		locked_at: "timestamp with time zone",
		locked_by: "text",
		created_at: "timestamp with time zone",
		updated_at: "timestamp with time zone",
		is_available: "boolean",
	});
	// The scan for due sessions uses this index.
	const [index] = await server.query<{ def: string }>(
		"SELECT indexdef AS def FROM pg_indexes WHERE schemaname = $1 AND indexdef LIKE '%(priority, run_at)%is_available = true%'",
		[schema],
	);
	expect(index?.def).toContain("_private_jobs");
});

test("a job of a session is written as graphile-worker writes one, and its workers are notified", async () => {
	const server = await testServer();
	const host = openHost(store);
	await (await takeFrom(store, host)).stop();
	const jobs = `${store.schema}_jobs`;
	const listener = new pg.Client({ connectionString: server.url });
	await listener.connect();
	onTestFinished(() => listener.end());
	const counts: number[] = [];
	listener.on("notification", ({ payload = "" }) => counts.push(JSON.parse(payload).count));
	await listener.query('LISTEN "jobs:insert"');
	await host.journal.submit("s", inputOf("go"));
	await expect.poll(() => counts).toEqual([1]);
	await server.query(
		`SELECT ${jobs}.add_job('${task}', '{"key" : "s"}', NULL, to_timestamp(0.001), ${mostAttempts}, 'other')`,
	);
	const rows = await server.query<{ job: Record<string, unknown> }>(
		`SELECT to_jsonb(j) - '{id,key,created_at,updated_at}'::text[] AS job FROM ${jobs}._private_jobs j ORDER BY id`,
	);
	expect(rows).toHaveLength(2);
	expect(rows[0]).toEqual(rows[1]);
});

test("a local queue that lacks required members is reported, by name", () => {
	const events: WorkerEvents = new EventEmitter();
	const check = fetchByRoom(events);
	expect(check).toThrow(
		expect.objectContaining({ code: "journal_failed", data: { missing: ["its event localQueue:init"] } }),
	);
	const localQueue = { workerQueue: [], getJobBatchSize: 1 };
	events.emit("localQueue:init", { localQueue } as never);
	expect(check).toThrow(/lacks fetch\. Install graphile-worker ~0\.18/);
});

test("waiting jobs are fetched together, up to the free capacity and none that would have to wait", async () => {
	const gate = Promise.withResolvers<void>();
	let begun = 0;
	const { fetched } = await runnerOf(5, async () => {
		begun++;
		await gate.promise;
	});
	onTestFinished(() => gate.resolve());
	const server = await testServer();
	await server.query(
		`SELECT count(*) FROM ${schema}.add_jobs(ARRAY(SELECT ('task', '{}', NULL, NULL, NULL, NULL, NULL, NULL)::${schema}.job_spec
			FROM generate_series(1, 40)))`,
	);
	await expect.poll(() => begun).toBe(5);
	const count = async (where: string): Promise<number> => {
		const text = `SELECT count(*)::int AS count FROM ${schema}._private_jobs WHERE ${where}`;
		return (await server.query<{ count: number }>(text))[0]?.count ?? Number.NaN;
	};
	expect(await count("locked_at IS NOT NULL")).toBe(5);
	gate.resolve();
	await expect.poll(() => count("true")).toBe(0);
	expect(begun).toBe(40);
	expect(Math.max(...fetched)).toBe(4);
});
