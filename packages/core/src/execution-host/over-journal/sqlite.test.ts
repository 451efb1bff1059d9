import { join } from "node:path";
import { executionHostContract } from "@holdfast/testing";
import { test } from "vitest";
import { temporaryFolder } from "../../../../../test/shared/temporary-folder.fixture.ts";
import { sqliteHost } from "../../sqlite.ts";

const make = () => {
	const folder = temporaryFolder();
	let time = 1_000_000;
	const hosts: { close(): Promise<void> }[] = [];
	return {
		host() {
			const host = sqliteHost({ path: join(folder, "host.db"), clock: { now: () => time } });
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
};

for (const { name, run } of executionHostContract({ name: "sqlite", make })) test(name, run);
