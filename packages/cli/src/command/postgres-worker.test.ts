// `holdfast run` and `holdfast worker` over Postgres, in processes of their own.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { startPostgresServer } from "@holdfast/testing/postgres-server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { commandsOfATest, modelOf } from "./commands-of-a-test.fixture.ts";
import { run } from "./spawn.fixture.ts";

const ownAgent = join(import.meta.dirname, "own-agent.fixture.ts");
let postgres: Awaited<ReturnType<typeof startPostgresServer>>;
let db: string;
const commands = commandsOfATest();
const { begin } = commands;

beforeAll(async () => {
	postgres = await startPostgresServer();
	// The server trusts everybody here: the password is there to be hidden.
	const address = new URL(postgres.url);
	address.password ||= "hunter2";
	db = address.href;
});
afterAll(() => postgres.stop());

test("a worker takes over a session of a process that is killed, and the password is shown nowhere", async () => {
	const server = await commands.serveModel(["hang", { text: "There are 7." }]);
	const worker = begin(["worker", "--agent", ownAgent, "--db", db], modelOf(server));
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
	const shown = await run(["show", "parcels", "--db", db], { folder: commands.folder });
	expect(shown.stdout).toContain("There are 7.");
	// How the session works is kept in a folder of ours, which is no part of the user's project.
	const kept = readdirSync(join(commands.folder, ".holdfast"));
	expect(kept).toEqual([".gitignore", expect.stringMatching(/^postgres-[0-9a-f]+\.settings$/)]);
});

test("a server that is not there is said in one line, without its password", async () => {
	const { code, stderr } = await run(
		["worker", "--agent", ownAgent, "--db", "postgres://somebody:hunter2@127.0.0.1:1/none"],
		{ folder: commands.folder },
	);
	expect(code).toBe(2);
	expect(stderr).toContain("postgres://somebody:***@127.0.0.1:1/none cannot be used");
	expect(stderr).not.toContain("hunter2");
});
