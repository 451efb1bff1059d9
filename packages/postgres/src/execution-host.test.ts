import { executionHostContract } from "@holdfast/testing";
import { test } from "vitest";
import { type PostgresHost, postgresHost } from "./index.ts";
import { testServer } from "./test-server.fixture.ts";

async function make() {
	const server = await testServer();
	const schema = server.schema();
	let time = 1_000_000;
	const hosts: PostgresHost[] = [];
	return {
		host() {
			const clock = { now: () => time };
			const host = postgresHost({ connectionString: server.url, schema, leaseTtlMs: 120_000, clock });
			hosts.push(host);
			return host;
		},
		advance(milliseconds: number) {
			time += milliseconds;
		},
		async end() {
			for (const host of hosts) await host.close();
		},
	};
}

for (const { name, run } of executionHostContract({ name: "postgres", make })) test(name, run);
