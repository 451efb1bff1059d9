import { describe, expect, test } from "vitest";
import { contractTests, storedTests } from "../persistent.fixture.ts";
import { redisClients } from "../redis.ts";
import { noRedis, startRedis } from "../redis-server.fixture.ts";
import { unreachableTests } from "../unreachable.fixture.ts";
import { redisWorld } from "../worlds.fixture.ts";

unreachableTests("Redis", (port, connectTimeoutMs) =>
	redisClients({
		url: `redis://:secret@127.0.0.1:${port}`,
		unencrypted: true,
		...(connectTimeoutMs === undefined ? {} : { connectTimeoutMs }),
	}),
);

test("Redis: either an address or a connection is required, and no error shows a password", async () => {
	expect(() => redisClients({ unencrypted: true })).toThrow(
		expect.objectContaining({ code: "OPTION_INVALID" }),
	);
	const clients = redisClients({ url: "redis://:secret@127.0.0.1:1", unencrypted: true });
	await expect(clients.start()).rejects.toThrow(/127\.0\.0\.1:1/);
	await expect(clients.start()).rejects.not.toThrow(/secret/);
});

const title = noRedis === undefined ? "over a real Redis" : `over a real Redis, left out: ${noRedis}`;
describe.skipIf(noRedis !== undefined)(title, () => {
	contractTests("Redis", redisWorld);
	storedTests("Redis", redisWorld);

	test("Redis: a server that stops answering is abandoned, and used again when it answers [RUN-102]", async () => {
		const { url, process: server } = await startRedis();
		const clients = redisClients({
			url,
			unencrypted: true,
			prefix: "stops:",
			commandTimeoutMs: 1_000,
			connectTimeoutMs: 1_000,
		});
		await clients.memory.append("s", 1);
		const unavailable = expect.objectContaining({ code: "DB_UNAVAILABLE", retryable: true });
		server.kill("SIGSTOP");
		try {
			await expect(clients.memory.read("s")).rejects.toEqual(unavailable);
			await expect(clients.memory.read("s")).rejects.toEqual(unavailable);
		} finally {
			server.kill("SIGCONT");
		}
		const poll = expect.poll(() => clients.memory.read("s").catch(() => undefined), { timeout: 10_000 });
		await poll.toEqual([1]);
		await clients.close();
	});

	test("Redis: a caller's connection is used, and commands that Redis rejects are not retried", async () => {
		const { command } = await startRedis();
		const clients = redisClients({ command, unencrypted: true, prefix: "own:" });
		await clients.database.write("c", "k", 1);
		expect(await clients.database.read("c", "k")).toBe(1);
		await clients.close();
		await command(["SET", "own:rows:value:d", "no hash"]);
		await expect(clients.database.write("d", "k", 1)).rejects.toEqual(
			expect.objectContaining({ code: "DB_FAILED", retryable: false }),
		);
	});
});
