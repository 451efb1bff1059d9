// Every statement uses an index, regardless of the number of sessions and entries: no growing table is scanned from its
// start, and every statement reads only a few pages.
import { append, begin, ended, input, note, take } from "@holdfast/testing/cases";
import type { ListOptions } from "holdfast/host";
import pg from "pg";
import { beforeAll, expect, test } from "vitest";
import { digest } from "./digest.ts";
import { postgresHost } from "./index.ts";
import { manySessions } from "./many-sessions.fixture.ts";
import { lockSpace } from "./migrate.ts";
import { changeStatements } from "./postgres-changes.ts";
import { statements } from "./statements.ts";
import { testServer } from "./test-server.fixture.ts";

const sessions = Number(process.env.HOLDFAST_SESSIONS ?? 20_000);
const entriesEach = Number(process.env.HOLDFAST_ENTRIES ?? 10);
let schema = "";

beforeAll(async () => {
	const server = await testServer();
	schema = server.schema();
	await manySessions(server, { schema, sessions, entriesEach });
}, 1_200_000);

interface Plan {
	readonly "Node Type": string;
	readonly "Relation Name"?: string;
	readonly "Index Name"?: string;
	readonly Plans?: readonly Plan[];
	readonly "Shared Hit Blocks": number;
	readonly "Shared Read Blocks": number;
}

async function planOf(text: string, values: readonly unknown[] = []): Promise<Plan> {
	const server = await testServer();
	const [row] = await server.query<{ "QUERY PLAN": [{ Plan: Plan }] }>(
		`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`,
		[...values],
	);
	return (row as { "QUERY PLAN": [{ Plan: Plan }] })["QUERY PLAN"][0].Plan;
}

/** The scans of a plan, as `table by index`. */
function scansOf(plan: Plan): string[] {
	const { "Relation Name": table, "Index Name": index, "Node Type": type, Plans = [] } = plan;
	const own =
		type.endsWith("Scan") && (table ?? index) !== undefined ? [`${table ?? ""} by ${index ?? type}`] : [];
	return [...own, ...Plans.flatMap(scansOf)];
}

const growing =
	/^(?:sessions|entries|chunks|inputs|dedupe|session_values|timers|records|files|file_pieces) by Seq Scan/;

async function expectFlat(text: string, values: readonly unknown[] = [], pages = 200): Promise<void> {
	const plan = await planOf(text, values);
	const scans = scansOf(plan).filter((scan) => growing.test(scan));
	expect(scans, text).toEqual([]);
	expect(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"], text).toBeLessThan(pages);
}

const statementsHere = () => statements(schema, () => "true");

test("a session is opened, read and searched by its digest", async () => {
	const { look, head, inbox, entries, chunks } = statementsHere();
	const key = digest("many 777");
	for (const text of [head, inbox]) await expectFlat(text, [key]);
	await expectFlat(look, [[key]]);
	await expectFlat(entries, [key, 0, null]);
	await expectFlat(entries, [key, entriesEach - 2, 1]);
	await expectFlat(chunks, [key, 0, 0, 1_000, 100]);
});

test("repeated statements are not planned again", async () => {
	const { url } = await testServer();
	const pool = new pg.Pool({ connectionString: url, max: 1 });
	const host = postgresHost({ pool, schema });
	const { journal } = host;
	try {
		for (let round = 0; round < 20; round++) {
			const key = `many ${round}`;
			const seen = new Promise<void>((resolve) => {
				const stop = journal.watch(key, () => {
					stop();
					resolve();
				});
			});
			await journal.submit(key, input(`again ${round}`));
			await append(await take(journal, key), `again ${round}`, note(1));
			await Promise.all([journal.head(key), journal.read(key), journal.inbox(key)]);
			await journal.readChunks?.(key, { after: { seq: 0, sub: 0 }, through: 9, limit: 9 });
			await seen;
		}
		const { rows } = await pool.query("SELECT statement, custom_plans FROM pg_prepared_statements");
		expect(rows.length).toBeGreaterThan(5);
		// The database tries as many, and compares their costs with those of one for all.
		expect(rows.filter(({ custom_plans }) => Number(custom_plans) > 5)).toEqual([]);
	} finally {
		await host.close();
		await pool.end();
	}
});

test("lists are by key or by state, page by page", async () => {
	const { list } = statementsHere();
	const pages: readonly ListOptions[] = [
		{ limit: 20 },
		{ limit: 20, after: "many 5" },
		{ limit: 20, prefix: "many 77" },
		{ limit: 20, prefix: "many 7", after: "many 77" },
		{ limit: 20, prefix: "none" },
	];
	for (const options of pages) {
		const { text, values } = list(options);
		await expectFlat(text, values);
	}
	// Sessions in a state are found by its index, so that the others cost nothing.
	const inState = sessions / 100;
	for (const state of ["open", "waiting", "orphaned"] as const) {
		const { text, values } = list({ state, limit: 20 });
		await expectFlat(text, values, 200 + 20 * inState);
	}
});

test("changes are by position", async () => {
	const { last, read } = changeStatements(schema);
	const [end] = await (await testServer()).query<{ position: string }>(last);
	const position = Number(end?.position);
	await expectFlat(last);
	await expectFlat(read, [position - 100 * entriesEach, 50], 5_000);
	await expectFlat(read, [0, 50], 5_000);
});

test("no statement of a host reads a growing table from its beginning", async () => {
	const server = await testServer();
	const scanned = async (): Promise<Record<string, number>> => {
		const rows = await server.query<{ relname: string; seq_tup_read: string }>(
			"SELECT relname, seq_tup_read FROM pg_stat_user_tables WHERE schemaname = $1 AND relname <> ALL ($2)",
			[schema, ["meta", "workers", "slots", "leftovers", "migrations", "removed_sessions"]],
		);
		return Object.fromEntries(rows.map(({ relname, seq_tup_read }) => [relname, Number(seq_tup_read)]));
	};
	// The connection that wrote the rows flushes its statistics on request, else seconds later.
	await server.query("SELECT pg_stat_force_next_flush()");
	await server.query("SELECT pg_stat_clear_snapshot()");
	const before = await scanned();
	const host = postgresHost({ connectionString: server.url, schema });
	const { journal } = host;
	try {
		const lease = await begin(journal, "own");
		await journal.submit("own", input("i", { kind: "steer", dedupeKey: "d" }));
		await lease.append({
			at: 1,
			runId: "run-1",
			facts: [note(1)],
			drain: ["i"],
			chunks: [{ sub: 1, event: { n: 1 } }],
		});
		await lease.append({ at: 1, runId: "run-1", facts: [ended], onlyIfNothingWaits: true });
		const state = { version: "1.0.0", id: "s", messages: [], step: 0, metadata: {} };
		await journal.fork("own", "fork", 3);
		const facts = [{ kind: "folded" as const, state, tools: [] }];
		await lease.append({ at: 1, runId: "run-1", facts, replaces: 3 });
		await append(await take(journal, "many 901"), "run-2", note(2));
		await journal.submit("many 903", input("j", { askedBy: { key: "many 901" } }));
		for (const key of ["own", "many 905"]) {
			await journal.head(key);
			await journal.read(key);
			await journal.readChunks?.(key, { after: { seq: 0, sub: 0 }, through: 9, limit: 9 });
			await journal.inbox(key);
		}
		await journal.list({ limit: 5, prefix: "many 1" });
		await journal.list({ limit: 5, state: "waiting", dueBy: 5 });
		await host.runs.locate("run 17");
		await host.runs.locate("unknown");
		const values = host.values.values("many 907", "o");
		await values.set("n", 1);
		await values.list();
		await values.delete("n");
		await host.timers.set({ key: "many 909", name: "t", wakeAt: 5 });
		for (const timer of await host.timers.claim({ now: 10 })) await host.timers.settle(timer);
		await host.timers.list("many 911");
		await host.records.commit(
			[{ shelf: "many", name: "many 5", revision: 1 }],
			[{ shelf: "many", name: "x", value: 1 }],
		);
		await host.records.list("many", { after: "many 55", limit: 3 });
		const files = host.files.of("many 913", "o");
		await files.write("f", [new Uint8Array([1])]);
		await files.list();
		await files.delete("f");
		const position = await host.changes.position();
		await host.changes.read({ after: position - 5 });
		await journal.delete("many 915");
		await journal.delete("own");
	} finally {
		await host.close();
	}
	// Closed connections have flushed their statistics.
	const running = `SELECT 1 FROM pg_stat_activity WHERE application_name = 'holdfast'`;
	await expect.poll(async () => (await server.query(running)).length).toBe(0);
	expect(await scanned()).toEqual(before);
});

test("sessions that wait for a deadline have no job, and a search for due work does not read them", async () => {
	const server = await testServer();
	const waiting = `FROM generate_series(0, ${sessions - 1}) n WHERE s.key = 'many ' || n AND n % 2 = 1`;
	const later = Date.now() + 3_600_000;
	const host = postgresHost({ connectionString: server.url, schema });
	const handed: string[] = [];
	try {
		// The first taker creates the queue.
		const take = (): ReturnType<typeof host.queue.take> =>
			host.queue.take({ atOnce: 5, isOurs: () => true, work: async (key) => void handed.push(key) });
		await (await take()).stop();
		await server.query(`UPDATE ${schema}.sessions s SET look_at = ${later} + n ${waiting}`);
		await server.query(`VACUUM ANALYZE ${schema}.sessions`);
		const jobs = `SELECT count(*)::int AS count FROM ${schema}_jobs._private_jobs`;
		expect(await server.query(jobs)).toEqual([{ count: 0 }]);
		const look = `SELECT ${schema}.dispatch_due_2(${lockSpace(schema)}, 0)`;
		// The first one of a connection reads the catalogue.
		await server.query(look);
		await expectFlat(look, [], 20);
		await server.query(`UPDATE ${schema}.sessions s SET look_at = 5 WHERE key = ANY ($1)`, [
			["many 77", "many 79"],
		]);
		const taking = await take();
		await expect.poll(() => [...new Set(handed)].toSorted()).toEqual(["many 77", "many 79"]);
		await taking.stop();
	} finally {
		await host.close();
	}
});
