import { DatabaseSync } from "node:sqlite";
import { executionHostContract, hostContract, type JournalWorld, journalContract } from "@holdfast/testing";
import { expect, test } from "vitest";
import { makeInstance, type SqlHost, sqlHost } from "../sql.ts";
import { nodeConnection } from "./node-connection.ts";

/** Hosts of one instance over one database. */
function makeWorld(clock = { now: () => Date.now() }) {
	const database = new DatabaseSync(":memory:");
	const instance = makeInstance();
	const hosts: SqlHost[] = [];
	const files = { maxFileBytes: 1_000_000, maxSessionBytes: 1_500_000 };
	return {
		host(): SqlHost {
			const host = sqlHost({ connection: nodeConnection(database), instance, files, clock });
			hosts.push(host);
			return host;
		},
		async end(): Promise<void> {
			for (const host of hosts) await host.close();
			database.close();
		},
		kill({ workerId }: SqlHost["journal"]): void {
			instance.living.delete(workerId);
			instance.listeners.delete(workerId);
		},
	};
}

function journals(): JournalWorld {
	const world = makeWorld();
	return {
		worker: () => world.host().journal,
		kill: (journal) => world.kill(journal as SqlHost["journal"]),
		end: () => world.end(),
	};
}

for (const { name, run } of journalContract({
	name: "one instance",
	make: journals,
	can: ["fold", "chunks"],
}))
	test(name, run);
for (const { name, run } of hostContract({
	name: "one instance",
	make: () => makeWorld(),
	limitsFiles: true,
}))
	test(name, run);
for (const { name, run } of executionHostContract({ name: "one instance", make: executions }))
	test(name, run);

function executions() {
	let ahead = 0;
	const world = makeWorld({ now: () => Date.now() + ahead });
	return {
		host: () => world.host().execution,
		advance(milliseconds: number) {
			ahead += milliseconds;
		},
		end: () => world.end(),
	};
}

test("a database of a newer release is rejected and unchanged", () => {
	const database = new DatabaseSync(":memory:");
	const connection = nodeConnection(database);
	sqlHost({ connection });
	database.exec("UPDATE journal_version SET version = 1000");
	expect(() => sqlHost({ connection })).toThrow(expect.objectContaining({ code: "journal_newer" }));
	expect(database.prepare("SELECT version FROM journal_version").get()).toEqual({ version: 1000 });
	database.close();
});

test("two workers of one instance cannot have the same name", () => {
	const connection = nodeConnection(new DatabaseSync(":memory:"));
	const instance = makeInstance();
	sqlHost({ connection, instance, workerId: "one" });
	expect(() => sqlHost({ connection, instance, workerId: "one" })).toThrow("another worker named");
});
