// The contract of journal and host on the oldest supported Postgres, a real one: the package `postgresql-15` of Debian
// and Ubuntu, or the programs in HOLDFAST_POSTGRES_15_PROGRAMS.
import { existsSync } from "node:fs";
import { hostContract, journalContract } from "@holdfast/testing";
import { append, begin, input, note } from "@holdfast/testing/cases";
import { expect, onTestFinished, test } from "vitest";
import { postgresHost } from "./index.ts";
import { oneProcess } from "./one-process.fixture.ts";
import { serverOfFile } from "./test-server.fixture.ts";

const programs = process.env.HOLDFAST_POSTGRES_15_PROGRAMS ?? "/usr/lib/postgresql/15/bin";

if (!existsSync(programs)) test.skip(`Postgres 15 is not installed (package postgresql-15): no ${programs}`);
else {
	const server = serverOfFile({ programs, settings: { max_connections: 300 } });
	test("it is Postgres 15", async () => {
		const [row] = await (await server()).query<{ server_version: string }>("SHOW server_version");
		expect(row?.server_version).toMatch(/^15\./);
	});
	test("statements that write and that hand out work are not compiled again at each run", async () => {
		const { url, schema, query } = await server();
		const host = postgresHost({ connectionString: url, schema: schema(), leaseTtlMs: 120_000 });
		onTestFinished(() => host.close());
		const handed: string[] = [];
		const work = async (key: string) => void handed.push(key);
		const taking = await host.queue.take({ atOnce: 1, isOurs: () => true, work });
		onTestFinished(() => taking.stop());
		await append(await begin(host.journal, "s"), "run-1", note(1));
		await host.journal.submit("t", input("i"));
		await expect.poll(() => handed).toEqual(["t"]);
		// What compiles is loaded by a connection when it first does.
		const compiling = `SELECT query FROM pg_stat_activity
			WHERE pg_read_file('/proc/' || pid || '/maps', 0, 10000000, true) LIKE '%llvmjit%'`;
		expect(await query(compiling)).toEqual([]);
	});
	const make = oneProcess(server);
	for (const { name, run } of journalContract({ name: "Postgres 15", make, can: ["fold", "chunks"] }))
		test(name, run);
	for (const { name, run } of hostContract({ name: "Postgres 15", make, limitsFiles: true })) test(name, run);
}
