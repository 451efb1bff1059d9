// agent.work(): due work is resumed once, by the first worker that checks, and continues by itself.
import { join } from "node:path";
import { type Script, scriptedModel } from "@holdfast/testing";
import type { LLMRequest } from "@holdfast/upp";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { atRest } from "../engine/engine.fixture.ts";
import { reminder } from "../execution-host/execution-host.fixture.ts";
import { acceptInput, storedInput } from "../facts/input.ts";
import type { AgentRun } from "../sessions/agent-run.ts";
import { noticeIdentity } from "../sessions/session-records.ts";
import { gate, never } from "../sessions/sessions.fixture.ts";
import type { WorkOptions, WorkProblem } from "../sessions/supervised.ts";
import { type SqliteHost, sqliteHost } from "../sqlite.ts";
import { Agent } from "./agent.ts";
import type { AgentOptions } from "./options.ts";

/** Answers each message with `re: <message>`. */
const echo = ({ messages }: LLMRequest): string => `re: ${(messages.at(-1) as { text?: string }).text}`;

let folder: string;
let hosts: SqliteHost[];
let agents: Agent[];
beforeEach(() => {
	folder = temporaryFolder();
	hosts = [];
	agents = [];
});
afterEach(async () => {
	await Promise.all(agents.map((each) => each.close()));
	await Promise.all(hosts.map((each) => each.close()));
});

/** A separate worker on the file. */
function worker(script: Script, options: AgentOptions = {}, clock?: { now(): number }): Agent {
	const path = join(folder, "journal.db");
	const host = sqliteHost(clock === undefined ? { path } : { path, clock });
	hosts.push(host);
	const made = new Agent({ ...options, model: scriptedModel(script), host });
	agents.push(made);
	return made;
}

/** Leaves a run open in each of these sessions, with the other texts waiting after it. */
async function leave(keys: readonly string[], texts = ["hello"], options: AgentOptions = {}): Promise<void> {
	const left = worker(() => never, options);
	for (const key of keys) for (const text of texts) await left.session(key).send(text);
	await left.close();
	await hosts.at(-1)?.close();
}

/** The runs that are resumed until it stops: session and end. */
async function taken(agent: Agent, options: WorkOptions = { until: "done" }): Promise<readonly string[]> {
	const ends: Promise<string>[] = [];
	for await (const run of agent.work(options)) ends.push(endOf(run));
	return Promise.all(ends);
}

async function endOf(run: AgentRun): Promise<string> {
	const { outcome, text } = await run.result();
	return `${run.sessionKey}: ${outcome} ${text}`;
}

describe("due work", () => {
	test("consists of open runs and the turns queued after them; once done, nothing is due", async () => {
		await leave(["a", "b"], ["one", "two"]);
		const second = worker(echo);
		const ends = await taken(second);
		expect(ends.toSorted()).toEqual([
			"a: completed re: one",
			"a: completed re: two",
			"b: completed re: one",
			"b: completed re: two",
		]);
		expect(await taken(second)).toEqual([]);
	});

	test("excludes the work of other living workers and the sessions of other agents", async () => {
		await leave(["theirs"], ["hello"], { namespace: "others" });
		const living = worker(() => never);
		await living.session("busy").send("hello");
		expect(await taken(worker(echo))).toEqual([]);
	});

	test("includes only the requested sessions", async () => {
		await leave(["a", "b", "c"]);
		const ends = await taken(worker(echo), { until: "done", sessions: (key) => key !== "b" });
		expect(ends.toSorted()).toEqual(["a: completed re: hello", "c: completed re: hello"]);
	});

	test("is shared between two workers, each piece done by one of them", async () => {
		const keys = Array.from({ length: 12 }, (_, index) => `s${index}`);
		await leave(keys, ["one", "two"]);
		const shown: string[] = [];
		const script: Script = (request) => {
			shown.push(String(echo(request)));
			return echo(request);
		};
		const both = await Promise.all([taken(worker(script)), taken(worker(script))]);
		expect(both.flat().toSorted()).toEqual(
			keys.flatMap((key) => [`${key}: completed re: one`, `${key}: completed re: two`]).toSorted(),
		);
		expect(shown).toHaveLength(2 * keys.length);
	});

	test("starts up to the limit of concurrent runs", async () => {
		await leave(["a", "b", "c", "d", "e"]);
		let [running, most] = [0, 0];
		const script: Script = async (request) => {
			most = Math.max(most, ++running);
			await atRest();
			running--;
			return echo(request);
		};
		expect(await taken(worker(script), { until: "done", atOnce: 2 })).toHaveLength(5);
		expect(most).toBe(2);
	});

	test("found in one search is finished before the next search, because each search lists all due work", async () => {
		await leave(Array.from({ length: 40 }, (_, at) => `session-${at}`));
		const agent = worker(echo);
		const { journal } = hosts.at(-1) as SqliteHost;
		const list = journal.list.bind(journal);
		let looks = 0;
		journal.list = (options) => {
			if (options?.state === "orphaned") looks++;
			return list(options);
		};
		expect(await taken(agent, { until: "done", atOnce: 2, lookEveryMs: 60_000 })).toHaveLength(40);
		expect(looks).toBe(2);
	});
});

describe("scheduled entries", () => {
	test("are delivered once when they are due, and then leave the list", async () => {
		let now = 1_000_000;
		const first = worker(echo, {}, { now: () => now });
		const [host] = hosts as [SqliteHost];
		await host.store.notifications.enqueue(reminder("a"));
		await host.scheduler.enqueueRun("run-a", { runAfterMs: 5_000 });
		expect(await taken(first)).toEqual([]);
		now += 5_000;
		expect(await taken(first)).toEqual(["s: completed re: reminder a"]);
		expect(await host.scheduler.list()).toEqual([]);
		expect(await taken(first)).toEqual([]);
	});

	test("are delivered only by the agent of their session", async () => {
		const theirs = worker(echo, { namespace: "theirs" });
		const [host] = hosts as [SqliteHost];
		await host.store.notifications.enqueue({ ...reminder("a"), ownerNamespace: "theirs" });
		await host.scheduler.enqueueRun("run-a");
		await host.store.notifications.enqueue(reminder("b"));
		await host.scheduler.enqueueRun("run-b");
		expect(await taken(theirs)).toEqual(["s: completed re: reminder a"]);
		expect(await taken(theirs)).toEqual([]);
		expect(await taken(worker(echo))).toEqual(["s: completed re: reminder b"]);
	});

	test("wait while a living worker's run is active, and do not wait for its lease to expire afterwards", async () => {
		const open = gate();
		const busy = worker(async (request) => {
			await open.promise;
			return echo(request);
		});
		const run = await busy.session("s").send("hello");
		void run.result();
		const second = worker(echo);
		const host = hosts.at(-1) as SqliteHost;
		await host.store.notifications.enqueue(reminder("a"));
		await host.scheduler.enqueueRun("run-a");
		expect(await taken(second)).toEqual([]);
		open.open();
		await run.result();
		expect(await taken(second)).toEqual(["s: completed re: reminder a"]);
		expect(await host.scheduler.list()).toEqual([]);
	});
});

describe("a notification for a session in which another worker's run is active", () => {
	test("is not kept claimed by the worker that failed to deliver it", async () => {
		const open = gate();
		const busy = worker(async (request) => {
			await open.promise;
			return echo(request);
		});
		const run = await busy.session("s").send("hello");
		void run.result();
		const second = worker(echo);
		const host = hosts.at(-1) as SqliteHost;
		await host.store.notifications.enqueue(reminder("a"));
		const { id, dedupeKey } = noticeIdentity("key-a");
		const body = storedInput(acceptInput("reminder a"));
		await host.journal.submit("s", { id, kind: "notice", dedupeKey, body });
		await host.scheduler.enqueueRun("run-a");
		expect(await second.resume("run-a")).toBeNull();
		expect(await host.store.notifications.getByIdempotencyKey("key-a")).toMatchObject({ status: "pending" });
		expect((await host.store.runs.get("run-a"))?.lease?.leaseUntilMs).toBe(0);
		open.open();
		await run.result();
		// That run accepted it before it ended: nothing is left to deliver.
		expect(await taken(second)).toEqual([]);
		expect(await host.scheduler.list()).toEqual([]);
		expect(await host.store.runs.get("run-a")).toMatchObject({ status: "completed" });
	});
});

describe("a worker", () => {
	test("finds newly due work while it watches, in under two seconds", async () => {
		const stop = new AbortController();
		const ends: string[] = [];
		const looking = (async () => {
			for await (const run of worker(echo).work({ signal: stop.signal })) ends.push(await endOf(run));
		})();
		await leave(["late"]);
		const leftAt = performance.now();
		await expect.poll(() => ends, { interval: 5 }).toEqual(["late: completed re: hello"]);
		expect(performance.now() - leftAt).toBeLessThan(2_000);
		stop.abort();
		await looking;
	});

	test("resumes nothing after its signal, and lets active runs continue", async () => {
		await leave(["a"]);
		const stop = new AbortController();
		const open = gate();
		const second = worker(async (request) => {
			await open.promise;
			return echo(request);
		});
		const runs: AgentRun[] = [];
		for await (const run of second.work({ signal: stop.signal })) {
			runs.push(run);
			await leave(["b"]);
			stop.abort();
		}
		open.open();
		expect(await Promise.all(runs.map(endOf))).toEqual(["a: completed re: hello"]);
		expect(await taken(worker(echo))).toEqual(["b: completed re: hello"]);
	});

	test("ends when its agent is closed, and any worker can take over its work", async () => {
		await leave(["a"]);
		const second = worker(() => never);
		for await (const run of second.work()) {
			expect(run.sessionKey).toBe("a");
			await second.close();
		}
		expect(await taken(worker(echo))).toEqual(["a: completed re: hello"]);
	});

	test("reports work that it cannot do and continues; without a listener it ends with that error", async () => {
		await leave(["a", "b"]);
		const second = worker(echo);
		const host = hosts.at(-1) as SqliteHost;
		const { acquire } = host.journal;
		host.journal.acquire = (key, options) => {
			if (key === "a") throw new Error("the page cannot be read");
			return acquire(key, options);
		};
		const problems: WorkProblem[] = [];
		const onProblem = (problem: WorkProblem): void => void problems.push(problem);
		expect(await taken(second, { until: "done", onProblem })).toEqual(["b: completed re: hello"]);
		expect(problems).toEqual([{ sessionKey: "a", error: new Error("the page cannot be read") }]);
		await expect(taken(second)).rejects.toThrow("the page cannot be read");
	});

	test("waits longer and longer before it retries failed work", async () => {
		await leave(["a"]);
		const waits: number[] = [];
		let time = 0;
		const timers = {
			after(milliseconds: number, wake: () => void) {
				time += milliseconds;
				const soon = setImmediate(wake);
				return () => clearImmediate(soon);
			},
		};
		const clock = { now: () => time, monotonic: () => time };
		const second = worker(echo, { ports: { clock, timers, ids: { uuid: () => crypto.randomUUID() } } });
		const host = hosts.at(-1) as SqliteHost;
		host.journal.acquire = () => {
			throw new Error("no");
		};
		const stop = new AbortController();
		await taken(second, {
			signal: stop.signal,
			lookEveryMs: 100,
			onProblem: () => {
				waits.push(time);
				if (waits.length === 8) stop.abort();
			},
		});
		const between = waits.slice(1).map((at, index) => at - (waits[index] as number));
		expect(between.map((wait) => Math.floor(wait / 1_000))).toEqual([1, 2, 4, 8, 16, 32, 60]);
	});

	test("retries an unavailable store at the next search, and all other work continues", async () => {
		await leave(["a"]);
		const agent = worker(echo);
		const { journal } = hosts.at(-1) as SqliteHost;
		const list = journal.list.bind(journal);
		let isBroken = true;
		journal.list = (options) => (isBroken ? Promise.reject(new Error("not now")) : list(options));
		const problems: unknown[] = [];
		const onProblem = ({ error }: WorkProblem): void => {
			problems.push(error);
			// A timer never fires if the caller never yields.
			if (problems.length === 1) setTimeout(() => (isBroken = false), 200);
			if (problems.length > 50) throw new Error("It asks without a pause.");
		};
		expect(await taken(agent, { until: "done", lookEveryMs: 50, onProblem })).toEqual([
			"a: completed re: hello",
		]);
		expect(problems.length).toBeLessThan(10);
	});

	test.for([
		[{ until: "never" }, /until/],
		[{ atOnce: 0 }, /atOnce/],
		[{ lookEveryMs: Number.NaN }, /lookEveryMs/],
	] as const)("rejects invalid options: %o", async ([options, named]) => {
		await expect(taken(worker(echo), options as WorkOptions)).rejects.toThrow(named);
	});
});
