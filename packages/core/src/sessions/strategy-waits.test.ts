// Runs whose strategy waits: for a time or for an input, in a session or in place.
import { join } from "node:path";
import { manualTime, scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { anyTool, collect, lines } from "../agent/agent.fixture.ts";
import { Agent, agent } from "../agent/agent.ts";
import type { Decider } from "../engine/action.ts";
import type { Host } from "../host/host-port.ts";
import { journalHost } from "../host/host-port.ts";
import { memoryHost } from "../host/memory-host.ts";
import { memoryJournal } from "../host/memory-journal.ts";
import { sqliteHost } from "../sqlite.ts";
import { AgentState } from "../state/agent-state.ts";
import { strategy } from "../strategies/strategy.ts";

const due = 1_060_000;

/** Polls a job once a minute, then asks the model. */
const polling = strategy({
	name: "polling",
	decide({ last, executions }) {
		if (last.kind === "assistant") return { kind: "finish" };
		if (last.kind === "results" && executions().at(-1)?.result === "pending")
			return { kind: "wait", tag: "poll", until: due };
		if (last.kind === "results" || (last.kind === "input" && last.tag === "step-end"))
			return { kind: "model", tag: "act", step: "next" };
		return { kind: "tools", step: "next", calls: [{ toolName: "poll", arguments: {} }] };
	},
});

/** Waits only for an input. */
const listening = strategy({
	name: "listening",
	decide({ last }) {
		if (last.kind === "assistant") return { kind: "finish" };
		if (last.kind === "input" && last.tag !== "turn") return { kind: "model", tag: "act", step: "next" };
		return { kind: "wait", tag: "word" };
	},
});

function make(time: ReturnType<typeof manualTime>, host: Host, execution = polling) {
	let polls = 0;
	const poll = anyTool("poll", () => (polls++ === 0 ? "pending" : "ready"), { retryPolicy: "pure" });
	const model = scriptedModel(() => "done");
	const one = new Agent({ model, tools: [poll], execution, host, ports: time.ports });
	return { one, model, polls: () => polls };
}

const text = async (one: Agent): Promise<unknown> => (await one.session("s").state()).messages.at(-1)?.text;

test("a strategy waits for a time without holding the session, then continues", async () => {
	const time = manualTime();
	const host = memoryHost();
	const { one, polls } = make(time, host);
	const run = await one.session("s").send("go");
	const events = await collect(run.watch());
	expect(events.slice(-2)).toMatchObject([
		{ type: "waiting", calls: [], wait: { tag: "poll", until: due } },
		{ type: "run_suspended", reason: "waiting" },
	]);
	expect(events.filter(({ type }) => type === "step_end")).toHaveLength(1);
	expect(await run.result()).toMatchObject({ outcome: "waiting", pending: [] });
	expect(await host.journal.list({ state: "orphaned" })).toEqual([]);
	expect(await host.journal.list({ state: "waiting", dueBy: due - 1 })).toEqual([]);
	expect(await host.journal.list({ state: "waiting", dueBy: due })).toHaveLength(1);
	time.pass(59_999);
	expect(polls()).toBe(1);
	time.pass(1);
	await expect.poll(() => text(one)).toBe("done");
	expect(polls()).toBe(2);
	const facts = (await host.journal.read("s")).map(({ fact }) => fact);
	expect(facts.filter(({ kind }) => /^wait|resumed/.test(kind))).toEqual([
		{ kind: "waiting", step: 1, calls: [], wait: { tag: "poll", until: due }, marks: ["step_end"] },
		expect.objectContaining({ kind: "run.resumed", reason: "answered" }),
		{ kind: "wait.ended", step: 1, tag: "poll", until: due },
	]);
	await one.close();
});

test.each([
	[
		"memory",
		() => {
			const journal = memoryJournal({ workerId: "dead" });
			return {
				first: journalHost(journal),
				next: () => {
					journal.die();
					return journalHost(journal.worker("next"));
				},
			};
		},
	],
	[
		"SQLite",
		() => {
			const path = join(temporaryFolder(), "waits.db");
			const first = sqliteHost(path);
			return { first, next: () => sqliteHost(path) };
		},
	],
] as const)(
	"a wait survives its process, in %s: it ends in time wherever a worker uses the store",
	async (_, hosts) => {
		const time = manualTime();
		const { first, next } = hosts();
		const before = make(time, first);
		expect((await (await before.one.session("s").send("go")).result()).outcome).toBe("waiting");
		await before.one.close();
		if (_ === "SQLite") await first.close();
		const host = next();
		const after = make(time, host);
		after.polls();
		const working = after.one.work({ until: "done" });
		await collect(working);
		expect(await after.one.session("s").resume()).toBeNull();
		expect(after.polls()).toBe(0);
		time.pass(60_000);
		await expect.poll(() => text(after.one)).toBe("done");
		await after.one.close();
		await host.close();
	},
);

test("a worker of the store gets the run whose wait has ended", async () => {
	const time = manualTime();
	const { one } = make(time, memoryHost());
	const run = await one.session("s").send("go");
	await run.result();
	const stop = new AbortController();
	const working = one.work({ signal: stop.signal });
	const next = working.next();
	await expect.poll(() => [...time.timers].some(({ at }) => at === due)).toBe(true);
	time.pass(60_000);
	const { value } = await next;
	expect(value?.runId).toBe(run.runId);
	expect(await value?.result()).toMatchObject({ outcome: "completed", text: "done" });
	stop.abort();
	await collect(working);
	await one.close();
});

test("a steer ends the wait, and the strategy sees it", async () => {
	const time = manualTime();
	const { one, model } = make(time, memoryHost());
	await (await one.session("s").send("go")).result();
	const steered = await one.session("s").steer("Never mind the job.");
	expect((await steered.result()).outcome).toBe("completed");
	expect(lines(model.requests[0]?.messages ?? [])).toEqual(["user: go", "user: Never mind the job."]);
	time.pass(120_000);
	await new Promise((resolve) => setImmediate(resolve));
	expect(model.requests).toHaveLength(1);
	await one.close();
});

test("another caller's message does not end the wait of a run: it starts its own turn", async () => {
	const caller = (user: string, role: string) => ({ tenant: "t", user, claims: { roles: [role] } });
	for (const [other, isTaken] of [
		[caller("alice", "clerk"), true],
		[undefined, true],
		[caller("alice", "guest"), false],
		[caller("bob", "clerk"), false],
	] as const) {
		const host = memoryHost();
		const { one } = make(manualTime(), host, listening);
		const session = one.session("s");
		const run = await session.send("go", { caller: caller("alice", "clerk") });
		await run.result();
		const steered = await session.steer("word", { caller: other });
		expect([other, steered.runId === run.runId]).toEqual([other, isTaken]);
		if (isTaken) expect((await steered.result()).outcome).toBe("completed");
		else expect((await host.journal.inbox("s")).map(({ runId }) => runId)).toEqual([steered.runId]);
		await one.close();
	}
});

test("a caller who is notified that a strategy waits can steer at once", async () => {
	const { one } = make(manualTime(), memoryHost(), listening);
	const run = await one.session("s").send("go");
	for await (const event of run.watch()) {
		if (event.type !== "waiting") continue;
		const steered = await one.session("s").steer("word");
		expect(await steered.result()).toMatchObject({ runId: run.runId, outcome: "completed" });
	}
	await one.close();
});

test.each([1, 2])("%i steers that arrive while a run starts to wait end the wait once", async (count) => {
	const words = ["one", "two"].slice(0, count);
	for (let at = 0; at < 40; at++) {
		const host = memoryHost();
		const submit = host.journal.submit.bind(host.journal);
		host.journal.submit = async (...given) => {
			for (let ticks = 6; ticks > 0; ticks--) await null;
			return submit(...given);
		};
		const { one } = make(manualTime(), host, listening);
		const session = one.session("s");
		const run = await session.send("go");
		const waits = run.result();
		for (let ticks = at; ticks > 0; ticks--) await null;
		const steered = await Promise.all(words.map((word) => session.steer(word)));
		await waits;
		for (const each of steered)
			expect(await each.result()).toMatchObject({ runId: run.runId, outcome: "completed" });
		expect(lines((await session.state()).messages)).toEqual([
			...["go", ...words].map((word) => `user: ${word}`),
			"assistant: done",
		]);
		expect(await host.journal.inbox("s")).toEqual([]);
		await one.close();
	}
});

test("a strategy may wait only for an input; an earlier one is not missed", async () => {
	const time = manualTime();
	const { one, model } = make(time, memoryHost(), listening);
	const session = one.session("s");
	const waiting = await session.send("go");
	expect((await waiting.result()).outcome).toBe("waiting");
	expect((await (await session.steer("the word")).result()).text).toBe("done");
	const run = await session.send("again");
	const early = await session.steer("at once");
	expect(early.runId).toBe(run.runId);
	expect((await run.result()).outcome).toBe("completed");
	expect(model.requests).toHaveLength(2);
	await one.close();
});

test("a turn that is sent during the wait follows the waiting run", async () => {
	const time = manualTime();
	const host = memoryHost();
	const { one } = make(time, host);
	const session = one.session("s");
	await (await session.send("go")).result();
	void (await session.send("next")).result();
	time.pass(60_000);
	await expect
		.poll(async () => lines((await session.state()).messages))
		.toEqual(["user: go", "assistant: done", "user: next", "assistant: done"]);
	await one.close();
});

test.each(["stop", "kill"] as const)("%s ends a waiting run, and no timer wakes it", async (how) => {
	const time = manualTime();
	const host = memoryHost();
	const { one, model } = make(time, host);
	const session = one.session("s");
	await (await session.send("go")).result();
	await session[how]();
	time.pass(120_000);
	await new Promise((resolve) => setImmediate(resolve));
	const facts = (await host.journal.read("s")).map(({ fact }) => fact);
	expect(facts.at(-1)).toMatchObject({ kind: "run.ended", outcome: how === "stop" ? "aborted" : "killed" });
	expect(facts.filter(({ kind }) => kind === "run.ended")).toHaveLength(1);
	expect(model.requests).toEqual([]);
	await one.close();
});

describe("in a pure call", () => {
	const parts = (time: ReturnType<typeof manualTime>, execution = polling) => {
		let polls = 0;
		const poll = anyTool("poll", () => (polls++ === 0 ? "pending" : "ready"));
		return agent({ model: scriptedModel(["done"]), tools: [poll], execution, ports: time.ports });
	};

	test("the wait happens within the call", async () => {
		const time = manualTime();
		const result = parts(time).generate("go");
		await expect.poll(() => [...time.timers].map(({ at }) => at)).toEqual([due]);
		time.pass(60_000);
		expect((await result).turn.response.text).toBe("done");
	});

	test("an abort ends it at once and leaves no timer", async () => {
		const time = manualTime();
		const stop = new AbortController();
		const result = parts(time).generate("go", AgentState.initial(), { signal: stop.signal });
		await expect.poll(() => time.timers.size).toBe(1);
		stop.abort();
		await expect(result).rejects.toMatchObject({ code: "CANCELLED" });
		expect(time.timers.size).toBe(0);
	});

	test("a wait beyond a timer's maximum is split into parts", async () => {
		const time = manualTime();
		const long = 1_000_000 + 2 ** 32;
		const sleepy = strategy({
			name: "sleepy",
			decide: ({ last }) => (last.kind === "wait" ? { kind: "finish" } : { kind: "wait", until: long }),
		});
		const result = parts(time, sleepy).generate("go");
		for (let pieces = 0; pieces < 3; pieces++) {
			await expect.poll(() => time.timers.size).toBe(1);
			time.pass(2 ** 31 - 1);
		}
		await result;
		expect(time.ports.clock.now()).toBeGreaterThanOrEqual(long);
	});

	test("a wait only for an input fails: no one can send one", async () => {
		await expect(parts(manualTime(), listening).generate("go")).rejects.toMatchObject({
			code: "invalid_action",
		});
	});

	test.each([Number.NaN, Number.POSITIVE_INFINITY, "soon"])("a wait until %s fails", async (until) => {
		const wrong = strategy({ name: "wrong", decide: () => ({ kind: "wait", until }) as never });
		await expect(parts(manualTime(), wrong).generate("go")).rejects.toMatchObject({ code: "invalid_action" });
	});
});

test("a parent waits with the strategy of its sub-agent, until the sub-agent's time", async () => {
	const time = manualTime();
	const child = new Agent({
		name: "child",
		description: "Waits.",
		model: scriptedModel(["late"]),
		execution: {
			name: "late",
			decide: ({ last }) => {
				if (last.kind === "assistant") return { kind: "finish" };
				return last.kind === "wait"
					? { kind: "model", tag: "act", step: "next" }
					: { kind: "wait", until: due };
			},
		} satisfies Decider,
		ports: time.ports,
	});
	const parent = new Agent({
		model: scriptedModel([
			{ toolCalls: [{ name: "delegate_to_child", arguments: { prompt: "go" } }] },
			"done",
		]),
		subagents: [child],
		ports: time.ports,
	});
	const session = parent.session("s");
	const result = await (await session.send("go")).result();
	expect(result).toMatchObject({ outcome: "waiting", pending: [], wait: { until: due } });
	time.pass(60_000);
	await expect.poll(async () => (await session.state()).messages.at(-1)?.text).toBe("done");
	await parent.close();
	await child.close();
});
