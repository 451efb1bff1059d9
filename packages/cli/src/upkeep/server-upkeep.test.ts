/** Upkeep of a server's store: it is checked and pruned while others use it. */
import { postgresHost } from "@holdfast/postgres";
import { sessionRemover } from "@holdfast/postgres/upkeep";
import { type PostgresServer, startPostgresServer } from "@holdfast/testing/postgres-server";
import { toStored } from "holdfast/host";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { commandsOfATest } from "../command/commands-of-a-test.fixture.ts";
import { fillStore } from "./full-store.fixture.ts";
import { checkStore, type PruneStep, pruneStore } from "./index.ts";
import { addRun, childKey, day, factsOfRun, take } from "./old-sessions.fixture.ts";

const commands = commandsOfATest();
const now = Date.now();
const old = now - 40 * day;
let server: PostgresServer;
let store: { readonly connectionString: string; readonly schema: string };
let time: number;
let host: ReturnType<typeof postgresHost>;

beforeAll(async () => {
	server = await startPostgresServer();
});
afterAll(() => server.stop());
beforeEach(() => {
	store = { connectionString: server.url, schema: server.schema() };
	time = old;
	host = postgresHost({ ...store, leaseTtlMs: 120_000, clock: { now: () => time } });
});
afterEach(() => host.close());

async function prune(options: Partial<Parameters<typeof pruneStore>[1]>): Promise<PruneStep[]> {
	const steps: PruneStep[] = [];
	const rest = {
		removeBefore: undefined,
		foldBefore: undefined,
		keep: 0,
		mode: "do",
		stopped: () => false,
	} as const;
	await pruneStore(store, { ...rest, ...options, onStep: (step) => steps.push(step) });
	return steps;
}

const keys = async (): Promise<string[]> => (await host.journal.list()).map(({ key }) => key).sort();
/** As an execution host keeps it. */
const recordRun = (name: string, sessionKey: string): unknown =>
	host.records.commit([], [{ shelf: "runs", name, value: { runId: name, sessionKey } }]);
const rowsOf = async (table: string): Promise<number> =>
	(await server.query(`SELECT 1 FROM ${store.schema}.${table}`)).length;

test("an intact store has no problems, and all of it is counted", async () => {
	await fillStore(host);
	const { problems, counts } = await checkStore(store);
	expect(problems).toEqual([]);
	expect(counts).toMatchObject({
		sessions: 8,
		openRuns: 1,
		folded: 1,
		inputs: 2,
		dedupe: 2,
		values: 2,
		files: 3,
	});
});

test("living workers are counted with their active sessions, and dead ones are not", async () => {
	const [working, idle] = [1, 2].map(() => postgresHost({ ...store, leaseTtlMs: 120_000 })) as [
		typeof host,
		typeof host,
	];
	const begin = async ({ journal }: typeof host, key: string, length: number): Promise<unknown> => {
		const facts = factsOfRun("What is there?", "").slice(0, length);
		return (await take(journal, key)).append({ at: 1, runId: `run of ${key}`, facts });
	};
	for (const key of ["a", "b", "d"]) await begin(working, key, 2);
	await begin(idle, "c", 7);
	const { schema } = store;
	await server.query(
		`WITH dead AS (INSERT INTO ${schema}.workers (name, ttl_ms, beat_at) VALUES ('dead', 1, now() - interval '1 hour') RETURNING id)
			UPDATE ${schema}.sessions SET owner = dead.id FROM dead WHERE key = 'd'`,
	);
	const { counts } = await checkStore(store);
	expect(counts).toMatchObject({ sessions: 4, openRuns: 3, workers: 2, held: 2 });
	for (const each of [working, idle]) await each.close();
	expect((await checkStore(store)).counts).toMatchObject({ workers: 0, held: 0 });
});

test.each([
	["UPDATE entries SET body = '{' WHERE seq = 3", "entry 3 cannot be read (assistant)"],
	["DELETE FROM entries WHERE seq IN (3, 4)", "2 entries are missing before entry 5"],
	["DELETE FROM entries WHERE seq = 7", "its row counts 7 as its last entry, but it is 6"],
	["DELETE FROM entries", "its row counts 7 entries, but it has none"],
	["UPDATE entries SET kind = 'run.ended' WHERE seq = 6", "ends a second time at entry 7"],
	["UPDATE sessions SET open_run = 'x'", "according to its row, run x is open"],
	["UPDATE sessions SET look_at = 5", "according to its row, its run waits until 5"],
	["UPDATE sessions SET inputs = 0", "input 1 is not counted"],
	["UPDATE inputs SET session = 77", "input 1 waits for a session that does not exist"],
	["UPDATE inputs SET kind = 'odd'", "input 1 is of the unknown kind odd"],
	["UPDATE inputs SET body = '{'", "the body of input 1 is damaged"],
	["UPDATE dedupe SET position = 9", "a dedupe key names an input that was never received"],
	["UPDATE chunks SET body = '{'", "chunk 1 after entry 5 is damaged"],
	["UPDATE chunks SET seq = 77", "chunk 1 after entry 77, and the last entry is 7"],
	["UPDATE session_values SET value = '{'", "the value n of notes is damaged"],
	["UPDATE records SET body = '{'", "the record r of shelf is damaged"],
	["UPDATE timers SET body = '{'", "the body of timer t is damaged"],
	["DELETE FROM file_pieces", "file f has 0 of its 3 bytes"],
])("a check detects damage to a store: %s", async (statement, expected) => {
	await addRun(host.journal, "a", { at: old, runId: "run", secret: "sent" });
	await host.journal.submit("a", { id: "i", kind: "notice", dedupeKey: "d", body: null });
	await host.values.values("a", "notes").set("n", 1);
	await host.timers.set({ key: "a", name: "t", wakeAt: now, body: 1 });
	await host.files.of("a", "o").write("f", [new Uint8Array(3)]);
	await host.records.commit([], [{ shelf: "shelf", name: "r", value: 1 }]);
	await server.query(statement.replace(/(UPDATE|FROM) (\w+)/, `$1 ${store.schema}.$2`));
	const { problems } = await checkStore(store);
	expect(problems.map(({ what }) => what).join("\n")).toContain(expected);
});

test("sessions unused for a while are removed with their sub-agents and the records of their runs; the others stay", async () => {
	const { journal, execution } = host;
	for (const [at, key] of ["gone", childKey("gone", "1"), childKey(childKey("gone", "1"), "2")].entries())
		await addRun(journal, key, { at: old, runId: `run ${at}`, secret: "sent" });
	await recordRun("run 0", "gone");
	await host.records.commit([], [{ shelf: "events run 0", name: "1", value: 1 }]);
	await host.values.values("gone", "o").set("n", 1);
	await host.files.of("gone", "o").write("f", [new Uint8Array(3)]);
	await addRun(journal, "open", { at: old, runId: "run 3" });
	const lease = await take(journal, "open");
	await lease.append({ at: old, runId: "open run", facts: factsOfRun("q", "").slice(0, 2) });
	await addRun(journal, "waits", { at: old, runId: "run 4" });
	await journal.submit("waits", { id: "i", kind: "notice", body: null });
	await addRun(journal, "has a new child", { at: old, runId: "run 5" });
	await addRun(journal, "scheduled", { at: old, runId: "run 6" });
	await execution.store.runs.create({
		runId: "later",
		kind: "notification",
		status: "queued",
		sessionKey: "scheduled",
	});
	time = now;
	await addRun(journal, childKey("has a new child", "1"), { at: now, runId: "run 7" });
	await addRun(journal, "new", { at: now, runId: "run 8" });
	const all = await keys();
	const removeBefore = now - 30 * day;
	const step = { what: "removed", session: "gone", sessions: 3, entries: 21, changedAt: old };
	expect(await prune({ removeBefore, mode: "plan" })).toEqual([step]);
	expect(await prune({ removeBefore, keep: 7 })).toEqual([]);
	expect(await keys()).toEqual(all);
	expect(await prune({ removeBefore })).toEqual([step]);
	expect(await keys()).toEqual(all.filter((key) => !key.includes("gone")));
	expect(await host.records.list("runs")).toMatchObject([{ name: "later" }]);
	expect(await host.records.list("events run 0")).toEqual([]);
	const [left] = await server.query<{ count: string }>(
		`SELECT count(*) AS count FROM ${store.schema}.entries WHERE session NOT IN (SELECT id FROM ${store.schema}.sessions)`,
	);
	expect([Number(left?.count), await rowsOf("session_values"), await rowsOf("file_pieces")]).toEqual([
		0, 0, 0,
	]);
	expect((await checkStore(store)).problems).toEqual([]);
});

test("a session that is used after it was selected stays, with everything that would be removed with it", async () => {
	for (const [at, key] of ["a", "b"].entries())
		await addRun(host.journal, key, { at: old, runId: `run ${at}` });
	const seen = (await host.journal.list()).map(({ key, epoch, seq, updatedAt }) => ({
		key: toStored(key),
		epoch,
		seq,
		updatedAt,
	}));
	await host.journal.submit("b", { id: "i", kind: "notice", body: null });
	const remover = sessionRemover(store);
	try {
		expect(await remover.remove(seen)).toBeUndefined();
		expect(await keys()).toEqual(["a", "b"]);
		expect(await remover.remove(seen.slice(0, 1))).toEqual(["run 0"]);
		expect(await remover.remove(seen.slice(0, 1))).toBeUndefined();
	} finally {
		await remover.close();
	}
	expect(await keys()).toEqual(["b"]);
});

test("a run that is still in a fork keeps its records when its original session is removed", async () => {
	await addRun(host.journal, "origin", { at: old, runId: "shared" });
	await recordRun("shared", "origin");
	time = now;
	await host.journal.fork("origin", "fork", 7);
	await prune({ removeBefore: now - 30 * day });
	expect(await keys()).toEqual(["fork"]);
	expect(await host.records.list("runs")).toMatchObject([{ name: "shared" }]);
});

test("old runs of remaining sessions are compacted", async () => {
	for (const [at, days] of [40, 35, 1].entries())
		await addRun(host.journal, "s", { at: now - days * day, runId: `run ${at}`, asks: `question ${at}` });
	const foldBefore = now - 30 * day;
	const step = { what: "folded", session: "s", sessions: 1, entries: 14 };
	expect(await prune({ foldBefore, mode: "plan" })).toMatchObject([step]);
	expect(await prune({ foldBefore })).toMatchObject([step]);
	const entries = await host.journal.read("s");
	expect(entries.map(({ fact }) => fact.kind)).toEqual([
		"folded",
		...factsOfRun("", "").map(({ kind }) => kind),
	]);
	expect(await prune({ foldBefore })).toEqual([]);
	expect((await checkStore(store)).problems).toEqual([]);
});

test("the command checks and prunes a server, and names the tasks that are left to the server", async () => {
	const own = `db_${server.schema()}`;
	await server.query(`CREATE DATABASE ${own}`);
	const address = new URL(server.url);
	address.pathname = `/${own}`;
	const there = postgresHost({ connectionString: address.href, clock: { now: () => old } });
	try {
		await addRun(there.journal, "s", { at: old, runId: "run" });
	} finally {
		await there.close();
	}
	const db = (...words: string[]) => commands.begin(["db", ...words, "--db", address.href]).finished;
	const checked = await db("check", "--json");
	expect([checked.code, JSON.parse(checked.stdout)]).toMatchObject([
		0,
		{ ok: true, counts: { sessions: 1, workers: 0, held: 0 } },
	]);
	const pruned = await db("prune", "--older-than", "30d");
	expect([pruned.code, pruned.stdout]).toEqual([0, "Removed 1 session and folded 0: 7 entries.\n"]);
	for (const [words, said] of [
		[["vacuum"], "autovacuum"],
		[["backup", "x.db"], "pg_dump"],
	] as const) {
		const refused = await db(...words);
		expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(said)]);
	}
	await server.query(`DROP DATABASE ${own} WITH (FORCE)`);
});
