// Work that the database hands out, on a real server.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { scriptedModel } from "@holdfast/testing";
import { Agent, type AgentOptions } from "holdfast";
import { storeKeyOf } from "holdfast/execute";
import { expect, test } from "vitest";
import type { PostgresHost } from "../index.ts";
import { testServer } from "../test-server.fixture.ts";
import { inputOf, openHost, storeOfEachTest, takeFrom } from "./dispatch.fixture.ts";

const store = storeOfEachTest();
const open = (): PostgresHost => openHost(store);

/** Starts an agent that works on what is handed out. Polls are too rare to find anything. */
async function workOn(host: PostgresHost, options: AgentOptions = {}): Promise<Agent> {
	const taken = Promise.withResolvers<void>();
	const queue = {
		async take(taker: Parameters<PostgresHost["queue"]["take"]>[0]) {
			const taking = await host.queue.take(taker);
			taken.resolve();
			return taking;
		},
	};
	const agent = new Agent({ model: scriptedModel(() => "done"), ...options, host: { ...host, queue } });
	store.ends.push(() => agent.close());
	const working = async (): Promise<void> => {
		for await (const run of agent.work({ onProblem: () => {} })) void run;
	};
	void working();
	await taken.promise;
	return agent;
}

async function textOf(host: PostgresHost, key: string): Promise<string> {
	const facts = await host.journal.read(key);
	return JSON.stringify(facts.map(({ fact }) => fact));
}

async function ended(host: PostgresHost, key: string): Promise<number> {
	const entries = await host.journal.read(key);
	return entries.filter(({ fact }) => fact.kind === "run.ended").length;
}

test("an un-awaited message is started by a worker, each once however many there are", async () => {
	const producer = open();
	await workOn(open());
	await workOn(open());
	const keys = Array.from({ length: 20 }, (_, number) => `session-${number}`);
	await Promise.all(keys.map((key) => producer.journal.submit(key, inputOf(key))));
	for (const key of keys) await expect.poll(() => ended(producer, key)).toBe(1);
	for (const key of keys) expect(await textOf(producer, key)).toContain("done");
});

test("a message that arrives while the first worker of a store creates the queue starts at once", async () => {
	const producer = open();
	const host = open();
	const looked = Promise.withResolvers<void>();
	const journal = {
		...host.journal,
		async list(options?: Parameters<PostgresHost["journal"]["list"]>[0]) {
			const found = await host.journal.list(options);
			if (options?.state === "orphaned") looked.resolve();
			return found;
		},
	};
	const queue = {
		async take(taker: Parameters<PostgresHost["queue"]["take"]>[0]) {
			await looked.promise;
			await producer.journal.submit("early", inputOf("early"));
			return host.queue.take(taker);
		},
	};
	await workOn({ ...host, journal, queue });
	await expect.poll(() => ended(producer, "early")).toBe(1);
});

test("agents of one process share a queue, and each gets its own sessions", async () => {
	const host = open();
	const asked: string[] = [];
	const says = (name: string): AgentOptions => ({
		namespace: name,
		model: scriptedModel(() => {
			asked.push(name);
			return name;
		}),
	});
	await workOn(host, says("one"));
	await workOn(host, says("two"));
	const other = open();
	const key = storeKeyOf("two", "shared");
	await other.journal.submit(key, inputOf("shared"));
	await expect.poll(() => ended(other, key)).toBe(1);
	expect(asked).toEqual(["two"]);
});

test("work that a worker released when it closed is continued by another", async () => {
	const first = open();
	const leaving = new Agent({
		model: scriptedModel(() => ({ gate: new Promise(() => {}), text: "never" })),
		host: first,
	});
	const run = await leaving.session("given-up").send("hello");
	const over = run.result().catch(() => {});
	store.ends.push(() => over);
	const second = open();
	await expect.poll(async () => (await second.journal.head("given-up"))?.openRunId).toBeDefined();
	await workOn(second);
	await leaving.close();
	await expect.poll(() => ended(second, "given-up")).toBe(1);
});

/** Starts a process on the store of the test. */
function start(file: string, more: object = {}) {
	const { url, schema } = store;
	const child = spawn(
		process.execPath,
		[
			"--conditions=holdfast-source",
			"--no-warnings",
			fileURLToPath(new URL(file, import.meta.url)),
			JSON.stringify({ connectionString: url, schema, ...more }),
		],
		{ stdio: ["ignore", "pipe", "inherit"] },
	);
	store.ends.push(() => child.kill("SIGKILL"));
	return child;
}

test("a session whose worker is killed is continued by another", async () => {
	const host = open();
	await workOn(host);
	const child = start("./hanging-worker.fixture.ts", { key: "killed" });
	await once(child.stdout, "data");
	child.kill("SIGKILL");
	await expect.poll(() => ended(host, "killed")).toBe(1);
	expect(await textOf(host, "killed")).toContain("done");
});

test.each(["SIGKILL", "SIGSTOP"] as const)(
	"a session that was handed to a worker without a lease yet, when %s hits it, is handed to another in under two seconds",
	async (signal) => {
		const server = await testServer();
		const producer = open();
		const took: number[] = [];
		// A busy machine gets several attempts.
		for (let attempt = 1; attempt <= 4 && (took.at(-1) ?? 2_000) >= 2_000; attempt++) {
			const child = start("./held-worker.fixture.ts");
			await once(child.stdout, "data");
			const handed = once(child.stdout, "data");
			const key = `handed-${attempt}`;
			await producer.journal.submit(key, inputOf(key));
			await handed;
			let at = Number.NaN;
			const other = await takeFrom(store, open(), {
				isOurs: () => {
					at = performance.now();
					return true;
				},
			});
			const met = performance.now();
			child.kill(signal);
			await expect.poll(() => other.begun, { interval: 20 }).toEqual([key]);
			took.push(at - met);
			if (signal === "SIGSTOP") {
				// It wakes up, and reports the end of its job: the other one's job still exists.
				const over = once(child.stdout, "data");
				child.kill("SIGCONT");
				await over;
			}
			const jobs = `SELECT key FROM ${store.schema}_jobs.jobs WHERE locked_by IS NOT NULL`;
			expect(await server.query(jobs)).toHaveLength(1);
			child.kill("SIGKILL");
			other.open();
			await other.stop();
		}
		console.log(`after ${signal} between the job and the lease: ${took.map(Math.round).join(", ")} ms`);
		expect(Math.min(...took)).toBeLessThan(2_000);
	},
);
