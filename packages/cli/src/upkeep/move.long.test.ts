/** Moves between a file and a server: whole or not at all. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { postgresHost } from "@holdfast/postgres";
import { scriptedModel } from "@holdfast/testing";
import { type PostgresServer, startPostgresServer } from "@holdfast/testing/postgres-server";
import { Agent } from "holdfast";
import { openJournalFile, sqliteHost } from "holdfast/sqlite";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { parseCommand } from "../command/arguments.ts";
import { commandsOfATest } from "../command/commands-of-a-test.fixture.ts";
import { contentOf, type FullHost, fillStore, rememberedBy } from "./full-store.fixture.ts";
import { checkJournal, checkStore, moveToFile, moveToServer } from "./index.ts";
import { take } from "./old-sessions.fixture.ts";

const commands = commandsOfATest();
let server: PostgresServer;
const silent = (): void => {};

beforeAll(async () => {
	server = await startPostgresServer();
});
afterAll(() => server.stop());

/** Creates a store on the server, in a separate schema. */
function emptyStore(): { readonly connectionString: string; readonly schema: string } {
	return { connectionString: server.url, schema: server.schema() };
}

/** Creates a separate database, which the command accesses by its address. */
async function emptyDatabase(): Promise<{ readonly url: string; readonly name: string }> {
	const name = `db_${server.schema()}`;
	await server.query(`CREATE DATABASE ${name}`);
	onTestFinished(async () => {
		await server.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
	});
	const url = new URL(server.url);
	url.pathname = `/${name}`;
	return { url: url.href, name };
}

async function using<Own extends FullHost, T>(host: Own, use: (host: Own) => Promise<T>): Promise<T> {
	try {
		return await use(host);
	} finally {
		await host.close();
	}
}

const path = (name = "j.db"): string => join(commands.folder, name);
const inFile = (name?: string) => sqliteHost(path(name));

async function problemsOf(file: string): Promise<unknown> {
	const journal = openJournalFile(file, "read");
	try {
		return checkJournal(journal, "full").problems;
	} finally {
		journal.database.close();
	}
}

test("a whole store is moved to a server and back, unchanged", async () => {
	await using(inFile(), fillStore);
	const before = await using(inFile(), contentOf);
	const store = emptyStore();
	const there = await moveToServer(path(), store, silent);
	expect(there.left).toBe(`${path()}.moved`);
	expect(readdirSync(commands.folder).sort()).toEqual(["j.db.moved"]);
	expect(await using(postgresHost(store), contentOf)).toEqual(before);
	expect((await checkStore(store)).problems).toEqual([]);
	const back = await moveToFile(store, path("back.db"), silent);
	expect(back.size).toEqual(there.size);
	expect(await using(inFile("back.db"), contentOf)).toEqual(before);
	expect(await problemsOf(path("back.db"))).toEqual([]);
	// The source is unchanged, under its new name.
	expect(await using(postgresHost({ ...store, schema: back.left }), contentOf)).toEqual(before);
	expect(await using(inFile("j.db.moved"), contentOf)).toEqual(before);
	await server.query(`DROP SCHEMA ${back.left} CASCADE`);
});

test("a store's records of received inputs and deleted sessions are moved too", async () => {
	await using(inFile(), fillStore);
	const store = emptyStore();
	await moveToServer(path(), store, silent);
	await moveToFile(store, path("back.db"), silent);
	const remembered = await using(inFile("j.db.moved"), rememberedBy);
	expect(remembered).toMatchObject({ known: { duplicate: true } });
	expect(await using(inFile("back.db"), rememberedBy)).toEqual(remembered);
});

test("an open run continues where it was moved to, and each session is among the changes there", async () => {
	await using(inFile(), async (host) => {
		const agent = new Agent({
			model: scriptedModel(() => ({ gate: new Promise(() => {}), text: "never" })),
			host,
		});
		const run = await agent.session("left").send("Where were we?");
		void run.result().catch(() => {});
		await agent.close();
	});
	const store = emptyStore();
	await moveToServer(path(), store, silent);
	const host = postgresHost(store);
	onTestFinished(() => host.close());
	const asked: string[] = [];
	const model = scriptedModel(({ messages }) => {
		asked.push(JSON.stringify(messages));
		return "Here.";
	});
	const agent = new Agent({ model, host });
	onTestFinished(() => agent.close());
	const keys = (await host.changes.read({})).map(({ key }) => key);
	expect(keys).toEqual(["left"]);
	const outcomes: string[] = [];
	for await (const run of agent.work({ until: "done" })) outcomes.push((await run.result()).outcome);
	expect(outcomes).toEqual(["completed"]);
	expect(asked).toEqual([expect.stringContaining("Where were we?")]);
	// Later commits follow the moved ones.
	const position = await host.changes.position();
	await host.journal.submit("next", { id: "i", kind: "notice", body: null });
	const later = await host.changes.read({ after: position });
	expect(later.map(({ key }) => key)).toEqual(["next"]);
});

test("nothing is moved into a store with data, or from a store with active workers", async () => {
	await using(inFile(), fillStore);
	const filled = emptyStore();
	const living = postgresHost({ ...filled, leaseTtlMs: 120_000 });
	onTestFinished(() => living.close());
	await living.journal.submit("s", { id: "i", kind: "notice", body: null });
	await expect(moveToServer(path(), filled, silent)).rejects.toMatchObject({ code: "store_not_empty" });
	await expect(moveToFile(filled, path("new.db"), silent)).rejects.toMatchObject({
		code: "store_in_use",
		data: { workers: [living.journal.workerId] },
	});
	const other = emptyStore();
	await expect(moveToFile(other, path(), silent)).rejects.toThrow("exists");
	const host = inFile();
	const lease = await take(host.journal, "open");
	await lease.append({ at: 1, runId: "open run", facts: [] });
	await expect(moveToServer(path(), other, silent)).rejects.toThrow(`in use by process ${process.pid}`);
	await host.close();
	const database = new DatabaseSync(path());
	database.exec("UPDATE entries SET body = '{' WHERE seq = 3");
	database.close();
	await expect(moveToServer(path(), other, silent)).rejects.toThrow("is damaged");
	expect(readdirSync(commands.folder).sort()).toEqual(["j.db"]);
	expect(await using(postgresHost(other), async ({ journal }) => journal.list())).toEqual([]);
});

/** Resolves when a statement of that database waits for a lock. */
async function blocked(database: string): Promise<void> {
	const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = $1 AND wait_event_type = 'Lock'`;
	await expect
		.poll(async () => (await server.query(waiting, [database])).length, { timeout: 60_000 })
		.toBe(1);
}

test("a killed move to a server leaves both stores as they were, and the next one succeeds", async () => {
	await using(inFile(), fillStore);
	const before = await using(inFile(), contentOf);
	const { url, name } = await emptyDatabase();
	const host = postgresHost({ connectionString: url });
	await host.journal.list(); // Creates the tables.
	await host.close();
	const { default: pg } = await import("pg");
	const holder = new pg.Client(url);
	await holder.connect();
	onTestFinished(() => holder.end());
	// Sessions and entries are written by the time that it waits.
	await holder.query("BEGIN; LOCK TABLE holdfast.records IN SHARE MODE");
	const moving = commands.begin(["db", "move", path(), url]);
	await blocked(name);
	moving.child.kill("SIGKILL");
	await moving.finished;
	await holder.query("ROLLBACK");
	expect(await using(inFile(), contentOf)).toEqual(before);
	const again = await commands.begin(["db", "move", path(), url]).finished;
	expect(again.code, again.stderr).toBe(0);
	expect(again.stdout).toMatch(/^Moved 8 sessions with .*\nThe old data is still in j\.db\.moved/);
	expect(await using(postgresHost({ connectionString: url }), contentOf)).toEqual(before);
});

test("a killed move to a file leaves the server as it was and no file, and the next one succeeds", async () => {
	await using(inFile(), fillStore);
	const { url, name } = await emptyDatabase();
	await moveToServer(path(), { connectionString: url }, silent);
	const before = await using(postgresHost({ connectionString: url }), contentOf);
	const { default: pg } = await import("pg");
	const holder = new pg.Client(url);
	await holder.connect();
	onTestFinished(() => holder.end());
	await holder.query("BEGIN; LOCK TABLE holdfast.records IN ACCESS EXCLUSIVE MODE");
	const moving = commands.begin(["db", "move", url, path("new.db")]);
	await blocked(name);
	moving.child.kill("SIGKILL");
	await moving.finished;
	await holder.query("ROLLBACK");
	expect(existsSync(path("new.db"))).toBe(false);
	expect(await using(postgresHost({ connectionString: url }), contentOf)).toEqual(before);
	const again = await commands.begin(["db", "move", url, path("new.db"), "--json"]).finished;
	expect(again.code, again.stderr).toBe(0);
	expect(JSON.parse(again.stdout)).toMatchObject({
		type: "move",
		sessions: 8,
		left: expect.stringMatching(/^holdfast_moved_/),
	});
	expect(await using(inFile("new.db"), contentOf)).toEqual(before);
});

test("the command reports in one line what it cannot move", async () => {
	const io = { folder: "/", environment: {} };
	const parsed = (...argv: string[]) => parseCommand(["db", "move", ...argv], io);
	expect(() => parsed("a.db")).toThrow("Give a source and a destination");
	expect(() => parsed("a.db", "b.db")).toThrow(/from a file to a server, or back.*db backup/);
	expect(() => parsed("postgres://a/b", "postgres://c/d")).toThrow(
		/from a file to a server, or back.*pg_dump/,
	);
	expect(() => parsed("a.db", "b.db", "c.db")).toThrow("takes two databases");
	const said = await commands.begin(["db", "move", "a.db", server.url, "--db", "c.db"]).finished;
	expect([said.code, said.stderr]).toEqual([2, expect.stringContaining("has no option --db")]);
	const missing = await commands.begin(["db", "move", "a.db", server.url]).finished;
	expect([missing.code, missing.stderr]).toEqual([
		2,
		expect.stringContaining("does not exist. Give its path"),
	]);
});
