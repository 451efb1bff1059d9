// What a damaged, full, evicting, demoted or dying Redis does, and what replies that nobody expects do.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createClient } from "redis";
import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import type { Clients } from "../contract/index.ts";
import { redisClients } from "../redis.ts";
import { freePort, noRedis, startRedis } from "../redis-server.fixture.ts";

const coded = (code: string, retryable: boolean) => expect.objectContaining({ code, retryable });
const unavailable = coded("DB_UNAVAILABLE", true);
const damaged = coded("RECORD_DAMAGED", false);

/** Everything that reads from a collection or a stream. */
const reads: readonly (readonly [name: string, read: (clients: Clients) => Promise<unknown>])[] = [
	["read", ({ database }) => database.read("c", "k")],
	["query", ({ database }) => database.query("c", {})],
	["search", ({ database }) => database.search("hello", { collection: "c" })],
	["stream", ({ memory }) => memory.read("s")],
	["stream search", ({ memory }) => memory.search("hello", { streamKey: "s" })],
];

test.each([undefined, null, "text", 7, {}, [], Object.create(null), new Error(""), new Error("gone")])(
	"a caller's connection that fails with %j is unavailable",
	async (cause) => {
		const rejects = redisClients({ command: () => Promise.reject(cause), unencrypted: true });
		const throws = redisClients({
			command() {
				throw cause;
			},
			unencrypted: true,
		});
		for (const clients of [rejects, throws]) {
			await expect(clients.start()).rejects.toEqual(unavailable);
			for (const [, read] of reads) await expect(read(clients)).rejects.toEqual(unavailable);
			await clients.close();
		}
	},
);

test.each([undefined, 7, "x", {}, [{}], ["1", Buffer.from("[]")], new Map(), [["1", "[]"]], [7, 7]])(
	"a reply of the form %j is rejected",
	async (reply) => {
		const clients = redisClients({ command: async () => reply, unencrypted: true });
		for (const [name, read] of reads)
			await expect(read(clients), name).rejects.toEqual(coded("DB_FAILED", false));
		await expect(clients.purge()).rejects.toEqual(coded("DB_FAILED", false));
		await clients.close();
	},
);

test.each(["", "localhost:6379", "http://localhost:6379", "redis://[", "redis://127.0.0.1:99999"])(
	"%j is not an address, and is rejected before anything connects",
	(url) => {
		expect(() => redisClients({ url, unencrypted: true })).toThrow(coded("OPTION_INVALID", false));
	},
);

const title = noRedis === undefined ? "over a real Redis" : `over a real Redis, left out: ${noRedis}`;
describe.skipIf(noRedis !== undefined)(title, () => {
	const rows = [
		...["", "{", "null", "{}", "[]", "7", '"row"', '["k",1,7,null]', '["k",1,"1",7]', '[7,1,"1",null]'],
		...['["k","1","1",null]', '["k",1.5,"1",null]', '["k",1]', "[".repeat(50_000)],
	];
	test.each(rows)("a row that contains %j is damaged, and the others stay", async (row) => {
		const { url, command } = await startRedis();
		const clients = redisClients({ url, unencrypted: true, prefix: `rows ${rows.indexOf(row)}:` });
		await clients.memory.append("s", "hello");
		await clients.database.write("c", "k", "hello");
		await clients.database.write("d", "k", "hello");
		for (const key of ["entry:s", "value:c"]) {
			const place = `rows ${rows.indexOf(row)}:rows:${key}`;
			const [seq = ""] = (await command(["HKEYS", place])) as string[];
			await command(["HSET", place, seq, row]);
		}
		for (const [name, read] of reads) await expect(read(clients), name).rejects.toEqual(damaged);
		expect(await clients.database.read("d", "k")).toBe("hello");
		await clients.database.write("c", "k", "again");
		expect(await clients.database.query("c", {})).toEqual(["again"]);
		await clients.memory.clear("s");
		expect(await clients.memory.read("s")).toEqual([]);
		await clients.close();
	});

	test("a collection with an impossible name is damaged", async () => {
		const { url, command } = await startRedis();
		const clients = redisClients({ url, unencrypted: true, prefix: "names:" });
		await command(["SADD", "names:spaces:value", '"', "\\u12", "\n"]);
		await expect(clients.database.search("hello")).rejects.toEqual(damaged);
		await clients.close();
	});

	test("no record is overwritten after a counter was evicted or reset", async () => {
		const { url, command } = await startRedis();
		const clients = redisClients({ url, unencrypted: true, prefix: "counter:" });
		for (const at of [1, 2, 3]) {
			await clients.memory.append("s", at);
			await clients.database.write("c", `${at}`, at);
		}
		for (const change of [
			["DEL", "counter:seq"],
			["SET", "counter:seq", "-5"],
			["SET", "counter:seq", "3"],
		]) {
			await command(change);
			await clients.memory.append("s", change[0]);
			await clients.database.write("c", change.join(" "), change[0]);
		}
		expect(await clients.memory.read("s")).toEqual([1, 2, 3, "DEL", "SET", "SET"]);
		expect(await clients.database.query("c", {})).toEqual([1, 2, 3, "DEL", "SET", "SET"]);
		for (const counter of ["not a number", "9223372036854775807"]) {
			await command(["SET", "counter:seq", counter]);
			await expect(clients.memory.append("s", 4)).rejects.toEqual(coded("DB_FAILED", false));
		}
		expect(await clients.memory.read("s")).toHaveLength(6);
		await clients.close();
	});

	test("a value and its keys are never part of a script or of a command", async () => {
		const { url, command } = await startRedis();
		const clients = redisClients({ url, unencrypted: true, prefix: "script:" });
		const attacks = [
			...[
				"'); redis.call('FLUSHALL') --",
				"]] redis.call('FLUSHALL')",
				"$(redis-cli flushall)",
				"\r\nFLUSHALL\r\n",
			],
			...[
				"*1\r\n$8\r\nFLUSHALL\r\n",
				"ARGV[1]",
				"KEYS[1]",
				"+inf",
				"-inf",
				"(0",
				"LIMIT",
				"NX",
				"0",
				"-1",
				"1e999",
			],
		];
		for (const attack of attacks) {
			await clients.memory.append("s", attack, { id: attack });
			await clients.memory.append("s", attack, { id: attack });
			await clients.memory.append(attack, attack);
			await clients.database.write(attack, attack, attack);
		}
		expect(await clients.memory.read("s")).toEqual(attacks);
		for (const attack of attacks) {
			expect(await clients.memory.read(attack)).toEqual([attack]);
			expect(await clients.database.read(attack, attack)).toBe(attack);
			await clients.memory.clear(attack);
		}
		expect(await clients.memory.read("s")).toHaveLength(attacks.length);
		expect(await command(["EXISTS", "script:seq"])).toBe(1);
		await clients.close();
	});

	test("forty writers of one key and one stream leave one value, and every entry once", async () => {
		const { url } = await startRedis();
		const all = Array.from({ length: 4 }, () => redisClients({ url, unencrypted: true, prefix: "many:" }));
		const writers = Array.from({ length: 40 }, (_, at) => [at, all[at % 4] as Clients] as const);
		await Promise.all(
			writers.map(async ([at, { database, memory }]) => {
				await database.write("c", "k", at);
				await memory.append("s", at % 10, { id: `${at % 10}` });
				if (at % 7 === 0) await memory.clear("other");
			}),
		);
		const [{ database, memory } = {} as Clients] = all;
		expect(await database.query("c", {})).toHaveLength(1);
		expect(((await memory.read("s")) as number[]).toSorted()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
		for (const clients of all) await clients.close();
	});

	test("a full server, a replica and one without replicas reject temporarily, and lose nothing", async () => {
		const { url, admin } = await ownRedis();
		const clients = redisClients({ url, unencrypted: true });
		await clients.memory.append("s", 0);
		const faults: readonly (readonly [string[], string[]])[] = [
			[
				["CONFIG", "SET", "maxmemory", "1"],
				["CONFIG", "SET", "maxmemory", "0"],
			],
			[
				["REPLICAOF", "127.0.0.1", "1"],
				["REPLICAOF", "NO", "ONE"],
			],
			[
				["CONFIG", "SET", "min-replicas-to-write", "1"],
				["CONFIG", "SET", "min-replicas-to-write", "0"],
			],
		];
		for (const [at, [begin, end]] of faults.entries()) {
			await admin(begin);
			await expect(clients.memory.append("s", -1)).rejects.toEqual(unavailable);
			await expect(clients.database.write("c", "k", -1)).rejects.toEqual(unavailable);
			expect(await clients.memory.read("s")).toHaveLength(at + 1);
			await admin(end);
			await clients.memory.append("s", at + 1);
		}
		expect(await clients.memory.read("s")).toEqual([0, 1, 2, 3]);
		await clients.close();
	});

	test("a server that was killed and restarted is used by the next call, also by many at once", async () => {
		const { url, kill, start } = await ownRedis();
		const clients = redisClients({ url, unencrypted: true });
		for (let round = 0; round < 3; round++) {
			await clients.memory.append("s", round);
			await kill();
			if (round === 1) await expect(clients.memory.read("s")).rejects.toEqual(unavailable);
			await start();
			const all = await Promise.all(Array.from({ length: 20 }, () => clients.memory.read("s")));
			for (const each of all) expect(each).toHaveLength(round + 1);
		}
		await kill();
		await clients.close();
		await clients.close();
	});

	test("a connection that the server closes is replaced without an error", async () => {
		const { url, admin } = await ownRedis();
		const clients = redisClients({ url, unencrypted: true });
		for (let round = 0; round < 5; round++) {
			await clients.memory.append("s", round);
			await admin(["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]);
			await expect
				.poll(async () =>
					String(await admin(["CLIENT", "LIST"]))
						.trim()
						.split("\n"),
				)
				.toHaveLength(1);
			// The end of the connection reaches this process by its event loop.
			await new Promise((passed) => setImmediate(passed));
		}
		expect(await clients.memory.read("s").catch(() => clients.memory.read("s"))).toEqual([0, 1, 2, 3, 4]);
		await clients.close();
	});
});

/** A Redis of this test's own that keeps what it has acknowledged. */
async function ownRedis() {
	const port = await freePort();
	const folder = temporaryFolder();
	let server: ChildProcess | undefined;
	const start = async (): Promise<void> => {
		const options = ["--port", `${port}`, "--bind", "127.0.0.1", "--save", "", "--dir", folder];
		server = spawn("redis-server", [...options, "--appendonly", "yes", "--appendfsync", "always"], {
			stdio: ["ignore", "pipe", "ignore"],
		});
		for await (const line of server.stdout ?? []) if (String(line).includes("Ready to accept")) return;
	};
	const kill = async (): Promise<void> => {
		const running = server;
		server = undefined;
		if (running === undefined) return;
		const exit = once(running, "exit");
		running.kill("SIGKILL");
		await exit;
	};
	await start();
	onTestFinished(kill);
	const url = `redis://127.0.0.1:${port}`;
	const admin = async (args: string[]): Promise<unknown> => {
		const client = createClient({ url });
		client.on("error", () => {});
		await client.connect();
		try {
			return await client.sendCommand(args);
		} finally {
			client.destroy();
		}
	};
	return { url, admin, kill, start };
}
