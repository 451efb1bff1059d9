// `holdfast run` and `holdfast worker` over Postgres, in processes of their own.
import { join } from "node:path";
import { startPostgresServer } from "@holdfast/testing/postgres-server";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { temporaryFolder } from "../temporary-folder.fixture.ts";
import { type ModelServer, run, type Started, start, startModelServer } from "./spawn.fixture.ts";

const ownAgent = join(import.meta.dirname, "own-agent.fixture.ts");
let postgres: Awaited<ReturnType<typeof startPostgresServer>>;
let db: string;
let folder: string;
let server: ModelServer | undefined;
let started: Started[];

beforeAll(async () => {
	postgres = await startPostgresServer();
	// The server trusts everybody here: the password is there to be hidden.
	const address = new URL(postgres.url);
	address.password ||= "hunter2";
	db = address.href;
});
afterAll(() => postgres.stop());
beforeEach(() => {
	folder = temporaryFolder();
	started = [];
});
afterEach(async () => {
	for (const { child } of started) child.kill("SIGKILL");
	await Promise.all(started.map(({ finished }) => finished));
	await server?.close();
});

function begin(argv: readonly string[], environment: Record<string, string> = {}): Started {
	const begun = start(argv, { folder, environment });
	started.push(begun);
	return begun;
}

test("a worker takes over a session of a process that is killed, and the password is shown nowhere", async () => {
	server = await startModelServer(["hang", { text: "There are 7." }]);
	const environment = { STUB_MODEL: /@(.*)$/.exec(server.model)?.[1] ?? "" };
	const worker = begin(["worker", "--agent", ownAgent, "--db", db], environment);
	await worker.until(/worker \d+/);
	const left = begin([
		"run",
		"How many parcels?",
		"--session",
		"parcels",
		"--model",
		server.model,
		"--db",
		db,
	]);
	await server.asked(1);
	left.child.kill("SIGKILL");
	await left.finished;
	await worker.until(/completed session parcels/);
	worker.child.kill("SIGTERM");
	const ended = await worker.finished;
	expect(ended.code).toBe(0);
	const { password } = new URL(db);
	expect(ended.stdout + ended.stderr).not.toContain(password);
	const shown = await run(["show", "parcels", "--db", db], { folder });
	expect(shown.stdout).toContain("There are 7.");
});

test("a server that is not there is said in one line, without its password", async () => {
	const { code, stderr } = await run(
		["worker", "--agent", ownAgent, "--db", "postgres://somebody:hunter2@127.0.0.1:1/none"],
		{ folder },
	);
	expect(code).toBe(2);
	expect(stderr).toContain("postgres://somebody:***@127.0.0.1:1/none cannot be used");
	expect(stderr).not.toContain("hunter2");
});

test("upkeep of a file is refused for a server", async () => {
	const { code, stderr } = await run(["db", "vacuum", "--db", db], { folder });
	expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining("looks after files") });
});
