// The numbers of a store, on a real server.
import { begin, input } from "@holdfast/testing/cases";
import { expect, onTestFinished, test } from "vitest";
import { type PostgresHost, postgresHost } from "./index.ts";
import { testServer } from "./test-server.fixture.ts";

async function open(schema: string): Promise<PostgresHost> {
	const { url } = await testServer();
	const host = postgresHost({ connectionString: url, schema, leaseTtlMs: 120_000 });
	onTestFinished(() => host.close());
	return host;
}

test("leases, commits and takeovers of a process are counted, and a released run is not a takeover", async () => {
	const server = await testServer();
	const schema = server.schema();
	const [one, two] = [await open(schema), await open(schema)];
	expect(await one.stats()).toEqual({ queued: 0, oldestDueMs: 0, leases: 0, takeovers: 0, commits: 0 });
	await begin(one.journal, "left");
	const given = await begin(one.journal, "given");
	expect(await one.stats()).toMatchObject({ leases: 2, commits: 2 });
	await given.release();
	expect(await one.stats()).toMatchObject({ leases: 1, commits: 3 });
	await server.query(`UPDATE ${schema}.workers SET ttl_ms = 0 WHERE name = $1`, [one.journal.workerId]);
	for (const key of ["left", "given"]) {
		const acquired = await two.journal.acquire(key);
		if (!acquired.ok) throw new Error(`${key} is held`);
		await acquired.lease.append({
			at: 1,
			runId: "run-1",
			facts: [{ kind: "run.ended", outcome: "completed" }],
		});
	}
	expect(await two.stats()).toMatchObject({ leases: 2, takeovers: 1, commits: 2 });
});

test("due work that no worker has is counted with its age, and no longer once a worker has it", async () => {
	const server = await testServer();
	const schema = server.schema();
	const host = await open(schema);
	// The first taker creates the queue; then there are no takers.
	const taking = await host.queue.take({ atOnce: 1, isOurs: () => false, work: async () => {} });
	await taking.stop();
	await host.journal.submit("a", input("i"));
	await host.journal.submit("b", input("j"));
	expect(await host.stats()).toMatchObject({ queued: 2 });
	await expect.poll(async () => (await host.stats()).oldestDueMs).toBeGreaterThan(0);
	const [made] = await server.query<{ age: number }>(
		`SELECT (extract(epoch FROM now() - min(created_at)) * 1000)::float8 AS age FROM ${schema}_jobs._private_jobs`,
	);
	expect((await host.stats()).oldestDueMs).toBeGreaterThanOrEqual(Math.floor(made?.age ?? Number.NaN));
	expect((await host.stats()).oldestDueMs).toBeLessThan(120_000);
	const next = await host.queue.take({ atOnce: 5, isOurs: () => true, work: async () => {} });
	onTestFinished(() => next.stop());
	await expect.poll(async () => host.stats()).toMatchObject({ queued: 0, oldestDueMs: 0 });
});

test("a deadline that passed unhandled is due", async () => {
	const server = await testServer();
	const schema = server.schema();
	const host = await open(schema);
	const taking = await host.queue.take({ atOnce: 1, isOurs: () => false, work: async () => {} });
	await taking.stop();
	const lease = await begin(host.journal, "waits");
	const deadline = Date.now() - 5_000;
	const calls = [{ toolCallId: "c", toolName: "ask", deadline }] as never;
	await lease.append({ at: 1, runId: "run-1", facts: [{ kind: "waiting", step: 1, calls }] });
	expect(await host.stats()).toMatchObject({ queued: 1 });
	expect((await host.stats()).oldestDueMs).toBeGreaterThanOrEqual(5_000);
});

test("an unavailable store rejects with a code", async () => {
	const host = postgresHost({ connectionString: "postgres://somebody@127.0.0.1:1/none", patienceMs: 1 });
	onTestFinished(() => host.close());
	await expect(host.stats()).rejects.toMatchObject({ code: "db_unavailable" });
});
