// A user's pool whose connections are all in use: every wait for one ends, and the error explains what to change.
import { scriptedModel } from "@holdfast/testing";
import { input } from "@holdfast/testing/cases";
import { Agent } from "holdfast";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { postgresHost } from "./index.ts";
import { testServer } from "./test-server.fixture.ts";

const exhausted = expect.objectContaining({
	code: "pool_exhausted",
	retryable: true,
	message: expect.stringMatching(/`max`.*release its clients.*`connectionString`/),
});

/** Creates a host on a pool of two connections, with its tables. */
async function hostOn(options: Partial<pg.PoolConfig> = {}) {
	const { url, schema } = await testServer();
	const pool = new pg.Pool({ connectionString: url, max: 2, ...options });
	pool.on("error", () => {});
	const host = postgresHost({ pool, schema: schema(), patienceMs: 400 });
	onTestFinished(async () => {
		await host.close();
		await pool.end();
	});
	await host.journal.submit("s", input("first"));
	return { pool, host };
}

test("requests that hold a connection while they wait for a turn fail with a code, and the next ones are served", async () => {
	const { pool, host } = await hostOn();
	const agent = new Agent({ model: scriptedModel(() => "Yes."), host });
	const request = async (key: string): Promise<unknown> => {
		const client = await pool.connect();
		try {
			return await (await agent.session(key).send("Hello")).result();
		} finally {
			client.release();
		}
	};
	const both = await Promise.allSettled([request("a"), request("b")]);
	const failed = both.flatMap((each) =>
		each.status === "rejected" ? [each.reason] : [(each.value as { error?: unknown }).error],
	);
	for (const error of failed) expect(error).toMatchObject({ code: "pool_exhausted" });
	expect(await (await agent.session("c").send("Hello")).result()).toMatchObject({ outcome: "completed" });
	await agent.close();
});

test.each([{}, { connectionTimeoutMillis: 100 }])(
	"reads and writes reject after the patience, and abandoned ones are not run later (%o)",
	async (options) => {
		const { pool, host } = await hostOn(options);
		const held = await Promise.all([pool.connect(), pool.connect()]);
		await expect(host.journal.head("s")).rejects.toEqual(exhausted);
		await expect(host.journal.submit("s", input("late"))).rejects.toEqual(exhausted);
		await expect(host.values.values("s", "o").get("n")).rejects.toEqual(exhausted);
		for (const client of held) client.release();
		expect((await host.journal.submit("s", input("next"))).order).toBe(2);
		expect((await host.journal.inbox("s")).map(({ id }) => id)).toEqual(["first", "next"]);
	},
);

test("close() ends while all connections are in use, and so do the waiting calls", async () => {
	const { pool, host } = await hostOn();
	const held = await Promise.all([pool.connect(), pool.connect()]);
	const waits = Promise.resolve(host.journal.submit("s", input("waits"))).catch((error: unknown) => error);
	await host.close();
	expect((await waits) as { code?: unknown }).toMatchObject({
		code: expect.stringMatching(/^(?:pool_exhausted|journal_closed)$/),
	});
	for (const client of held) client.release();
});
