// The contract of journal and host on the oldest Postgres that is supported, a real one: the package `postgresql-15` of
// Debian and Ubuntu, or where HOLDFAST_POSTGRES_15_PROGRAMS says that its programs are.
import { existsSync } from "node:fs";
import { hostContract, journalContract } from "@holdfast/testing";
import { expect, test } from "vitest";
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
	const make = oneProcess(server);
	for (const { name, run } of journalContract({ name: "Postgres 15", make, can: ["fold", "chunks"] }))
		test(name, run);
	for (const { name, run } of hostContract({ name: "Postgres 15", make, limitsFiles: true })) test(name, run);
}
