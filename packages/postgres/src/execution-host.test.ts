import { executionHostContract } from "@holdfast/testing";
import { test } from "vitest";
import { type PostgresHost, postgresHost } from "./index.ts";
import { reusedStores } from "./reused-store.fixture.ts";
import { testServer } from "./test-server.fixture.ts";

const storeOf = reusedStores(testServer);

async function make() {
	const { schema, pool, leave } = await storeOf();
	let time = 1_000_000;
	const hosts: PostgresHost[] = [];
	return {
		host() {
			const clock = { now: () => time };
			const host = postgresHost({ pool: pool(hosts.length), schema, leaseTtlMs: 120_000, clock });
			hosts.push(host);
			return host;
		},
		advance(milliseconds: number) {
			time += milliseconds;
		},
		async end() {
			for (const host of hosts) await host.close();
			await leave();
		},
	};
}

for (const { name, run } of executionHostContract({ name: "postgres", make })) test(name, run);
