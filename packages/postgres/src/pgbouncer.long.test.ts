// The journal behind a real PgBouncer in transaction mode: the full contract with a connection that bypasses it for
// listening, and notifications of other hosts without one.
import { type JournalWorld, journalContract } from "@holdfast/testing";
import { append, begin, ended, note } from "@holdfast/testing/cases";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { type PostgresHostOptions, postgresHost } from "./index.ts";
import { oneProcess } from "./one-process.fixture.ts";
import { hasPgBouncer, type PgBouncer, startPgBouncer } from "./pgbouncer.fixture.ts";
import { testServer } from "./test-server.fixture.ts";
import { readStore } from "./upkeep.ts";

let starting: Promise<PgBouncer> | undefined;

async function through(): Promise<PostgresHostOptions> {
	const { url } = await testServer();
	starting ??= startPgBouncer(url);
	// No call times out on a slow machine.
	const patient = { connectTimeoutMs: 100_000, patienceMs: 100_000 };
	return { connectionString: (await starting).url, pooler: "transaction", ...patient };
}

afterAll(async () => {
	await (await starting?.catch(() => undefined))?.stop();
});

if (!hasPgBouncer) test.skip("PgBouncer is not installed (package pgbouncer)");
else {
	const contract = (name: string, options: () => Promise<PostgresHostOptions>) =>
		journalContract({
			name,
			make: oneProcess(testServer, options) as () => Promise<JournalWorld>,
			can: ["fold", "chunks"],
		});
	const listening = async (): Promise<PostgresHostOptions> => ({
		...(await through()),
		sessionConnectionString: (await testServer()).url,
	});
	for (const { name, run } of contract("PgBouncer, with a way round it", listening)) test(name, run);
	const polling = async (): Promise<PostgresHostOptions> => ({ ...(await through()), pollMs: 20 });
	for (const { name, run } of contract("PgBouncer, by polling", polling))
		if (/is notified/.test(name)) test(name, run);

	test("a pooler keeps nothing in one process's connection for another, and a whole store is read through it", async () => {
		const server = await testServer();
		const schema = server.schema();
		const options = { ...(await through()), schema, leaseTtlMs: 120_000 };
		const hosts = [postgresHost(options), postgresHost(options)];
		onTestFinished(async () => {
			for (const host of hosts) await host.close();
		});
		await Promise.all(
			hosts.flatMap((host, at) =>
				Array.from({ length: 20 }, async (_, number) => {
					const lease = await begin(host.journal, `${at} ${number}`);
					await append(lease, "run-1", note(number));
					await append(lease, "run-1", ended);
				}),
			),
		);
		const kept = await server.query(
			"SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
		);
		expect(kept).toEqual([]);
		const sessions = await readStore(options, async (dump) => {
			let count = 0;
			for await (const { table, rows } of dump.rows()) if (table === "sessions") count += rows.length;
			return count;
		});
		expect(sessions).toBe(40);
	});
}
