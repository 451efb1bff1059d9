// The commands that work on a Postgres, in processes of their own.
import { join } from "node:path";
import { postgresHost } from "@holdfast/postgres";
import { scriptedModel } from "@holdfast/testing";
import { startPostgresServer } from "@holdfast/testing/postgres-server";
import { Agent } from "holdfast";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../temporary-folder.fixture.ts";
import { databaseOf, shownDatabase } from "../work/index.ts";
import { run, startModelServer } from "./spawn.fixture.ts";

const ownAgent = join(import.meta.dirname, "own-agent.fixture.ts");

test("a worker finishes on Postgres what another process left, and the sessions are listed and shown", async () => {
	const server = await startPostgresServer();
	onTestFinished(() => server.stop());
	const url = new URL(server.url);
	url.password = "sesame";
	const db = url.href;
	const host = postgresHost({ connectionString: db });
	const left = new Agent({ model: scriptedModel(() => new Promise(() => {})), host });
	await left.session("parcels").send("How many parcels?");
	await left.close();
	await host.close();

	const models = await startModelServer([{ text: "There are 7." }]);
	onTestFinished(() => models.close());
	const environment = { STUB_MODEL: /@(.*)$/.exec(models.model)?.[1] ?? "" };
	const folder = temporaryFolder();
	const command = (...argv: string[]) => run([...argv, "--db", db], { folder, environment });
	const worked = await command("worker", "--agent", ownAgent, "--once", "--json");
	expect([worked.code, worked.stderr]).toEqual([0, ""]);
	expect(worked.stdout).toContain('"outcome":"completed"');
	const listed = await command("sessions", "--json");
	expect(JSON.parse(listed.stdout)).toMatchObject({ key: "parcels", state: "completed" });
	const shown = await command("show", "parcels");
	expect(shown.stdout).toContain("There are 7.");
	const unknown = await command("show", "unknown");
	expect([unknown.code, unknown.stderr.includes("sesame")]).toEqual([2, false]);
	expect((await command("run", "hello")).stderr).toContain("works with a file");
	expect((await command("worker", "--once")).stderr).toContain("--agent");
});

test("a Postgres that cannot be reached is said to be so, without its password", async () => {
	const refused = "postgres://user:sesame@127.0.0.1:1/none";
	const { code, stderr } = await run(["sessions", "--db", refused], { folder: temporaryFolder() });
	expect([code, stderr.includes("sesame")]).toEqual([2, false]);
	expect(stderr).toContain("postgres://user@127.0.0.1:1/none cannot be used");
});

test("an address is no path, and is shown without a password", () => {
	expect(databaseOf("/home", "sessions.db")).toBe(join("/home", "sessions.db"));
	expect(databaseOf("/home", "postgres://host/db")).toBe("postgres://host/db");
	expect(shownDatabase("postgresql://u:p@h:5/db?password=p&sslmode=require")).toBe(
		"postgresql://u@h:5/db?password=…&sslmode=require",
	);
	expect(shownDatabase("postgres://h/db")).toBe("postgres://h/db");
});
