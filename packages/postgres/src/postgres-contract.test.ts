import { type HostWorld, hostContract, type JournalWorld, journalContract } from "@holdfast/testing";
import { test } from "vitest";
import { type PostgresHost, postgresHost } from "./index.ts";
import { testServer } from "./test-server.fixture.ts";

/** Nobody is taken for dead, however slow the machine is. */
const leaseTtlMs = 120_000;

async function oneProcess(): Promise<JournalWorld & HostWorld> {
	const server = await testServer();
	const schema = server.schema();
	const hosts: PostgresHost[] = [];
	const host = (): PostgresHost => {
		const files = { maxFileBytes: 1_000_000, maxSessionBytes: 1_500_000 };
		const made = postgresHost({ connectionString: server.url, schema, leaseTtlMs, files });
		hosts.push(made);
		return made;
	};
	return {
		host,
		worker: () => host().journal,
		async end() {
			for (const each of hosts) await each.close();
		},
	};
}

for (const { name, run } of journalContract({
	name: "postgres, one process",
	make: oneProcess,
	can: ["fold", "chunks"],
}))
	test(name, run);
for (const { name, run } of hostContract({ name: "postgres", make: oneProcess, limitsFiles: true })) test(name, run);
