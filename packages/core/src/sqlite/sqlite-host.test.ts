import { join } from "node:path";
import { type HostWorld, hostContract } from "@holdfast/testing";
import { test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { type SqliteHost, sqliteHost } from "../sqlite.ts";

function make(): HostWorld {
	const path = join(temporaryFolder(), "host.db");
	const hosts: SqliteHost[] = [];
	return {
		host() {
			const host = sqliteHost({ path, files: { maxFileBytes: 1_000_000, maxSessionBytes: 1_500_000 } });
			hosts.push(host);
			return host;
		},
		async end() {
			for (const host of hosts) await host.close();
		},
	};
}

for (const { name, run } of hostContract({ name: "sqlite", make, limitsFiles: true })) test(name, run);
