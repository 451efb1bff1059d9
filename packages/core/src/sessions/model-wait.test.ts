// Runs whose model's provider is busy or cannot be reached: they wait without a process, and continue by themselves.
import { join } from "node:path";
import { manualTime, type Script, type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { type ErrorCode, UPPError } from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { anyTool, collect, lines } from "../agent/agent.fixture.ts";
import { Agent } from "../agent/agent.ts";
import type { AgentOptions } from "../agent/options.ts";
import type { Fact } from "../facts/fact.ts";
import type { Host } from "../host/host-port.ts";
import { journalHost } from "../host/host-port.ts";
import { memoryHost } from "../host/memory-host.ts";
import { memoryJournal } from "../host/memory-journal.ts";
import { sqliteHost } from "../sqlite.ts";
import { plan } from "../strategies/plan.ts";
import { react } from "../strategies/react.ts";
import { strategy } from "../strategies/strategy.ts";
import { eventsOf, settled } from "./sessions.fixture.ts";

const began = 1_000_000;

function failing(code: ErrorCode, statusCode?: number, retryAfterMs?: number): ScriptedReply {
	const error = new UPPError(`It is ${code}.`, code, "scripted", "llm", statusCode);
	if (retryAfterMs !== undefined) error.retryAfterMs = retryAfterMs;
	return { error };
}

/** Busy for a minute. */
const busy = failing("RATE_LIMITED", 429, 60_000);

function make(script: Script, options: Partial<AgentOptions> = {}, time = manualTime()) {
	const host = options.host ?? memoryHost({ clock: time.ports.clock });
	const model = scriptedModel(script);
	const tools = [anyTool("look", () => "seen", { retryPolicy: "pure" })];
	const agent = new Agent({ model, tools, ports: time.ports, modelWait: {}, ...options, host });
	const session = agent.session("s");
	const pass = async (milliseconds: number): Promise<void> => {
		time.pass(milliseconds);
		await settled();
	};
	const facts = async (): Promise<readonly Fact[]> =>
		(await (host as Host).journal.read("s")).map(({ fact }) => fact);
	return { agent, session, model, host: host as Host, time, pass, facts };
}

const look = { toolCalls: [{ name: "look" }] };

test("a rate limit makes the run wait for the time that the provider requested, then it continues", async () => {
	const { agent, session, model, host, pass, facts } = make([look, busy, "done"]);
	const run = await session.send("go");
	const events = await collect(run.watch());
	const wait = {
		tag: "model",
		until: began + 60_000,
		model: { since: began, attempt: 1, code: "RATE_LIMITED" },
	};
	expect(events.slice(-3)).toMatchObject([
		{ type: "model_retry", attempt: 1, delay: 60_000, error: { code: "RATE_LIMITED" } },
		{ type: "waiting", calls: [], wait },
		{ type: "run_suspended", reason: "waiting" },
	]);
	expect(await run.result()).toMatchObject({ outcome: "waiting", pending: [], wait });
	expect(await host.journal.list({ state: "orphaned" })).toEqual([]);
	expect(await host.journal.list({ state: "waiting", dueBy: began + 59_999 })).toEqual([]);
	expect(await host.journal.list({ state: "waiting", dueBy: began + 60_000 })).toHaveLength(1);
	await pass(59_999);
	expect(model.requests).toHaveLength(2);
	await pass(1);
	expect(lines((await session.state()).messages)).toEqual([
		"user: go",
		"assistant:  [look]",
		"results: seen",
		"assistant: done",
	]);
	expect((await facts()).map((fact) => (fact.kind === "note" ? fact.topic : fact.kind))).toEqual([
		...["run.started", "input", "assistant", "tool.started", "tool.settled"],
		...["model-retry", "waiting", "run.resumed", "wait.ended", "assistant", "run.ended"],
	]);
	await agent.close();
});

test("the consumer of a turn is notified what it waits for and until when", async () => {
	const { agent, session } = make([busy, "done"]);
	const events = await eventsOf(await session.send("go"));
	expect(events.at(-1)).toMatchObject({
		type: "turn-waiting",
		toolCalls: [],
		wait: { tag: "model", until: began + 60_000, model: { code: "RATE_LIMITED" } },
	});
	await agent.close();
});

test.each([
	["RATE_LIMITED", 429],
	["RATE_LIMITED", undefined],
	["NETWORK_ERROR", undefined],
	["TIMEOUT", 504],
	["PROVIDER_ERROR", 503],
	["PROVIDER_ERROR", 529],
] as const)("a run waits for %s %s", async (code, status) => {
	const { agent, session, pass } = make([failing(code, status), "done"]);
	expect(await (await session.send("go")).result()).toMatchObject({ outcome: "waiting" });
	await pass(36_000);
	expect((await session.state()).messages.at(-1)?.text).toBe("done");
	await agent.close();
});

test.each([
	["QUOTA_EXCEEDED", 429],
	["AUTHENTICATION_FAILED", 401],
	["INVALID_REQUEST", 400],
	["PROVIDER_ERROR", 500],
	["PROVIDER_ERROR", undefined],
	["TIMEOUT", undefined],
] as const)("a run does not wait for %s %s, and ends with it", async (code, status) => {
	const { agent, session } = make([failing(code, status), "never"]);
	expect(await (await session.send("go")).result()).toMatchObject({ outcome: "error", error: { code } });
	await agent.close();
});

test("waits grow until the provider answers, and then start again", async () => {
	const down = failing("NETWORK_ERROR");
	const { agent, session, model, pass, facts } = make([down, down, down, look, down, "done"]);
	await (await session.send("go")).result();
	for (let at = 0; at < 200 && model.requests.length < 6; at++) await pass(5_000);
	const waits = (await facts()).flatMap((fact) => (fact.kind === "waiting" && fact.wait ? [fact.wait] : []));
	expect(waits.map(({ model }) => model?.attempt)).toEqual([1, 2, 3, 1]);
	expect(new Set(waits.slice(0, 3).map(({ model }) => model?.since))).toEqual(new Set([began]));
	const retries = (await facts()).flatMap((fact) =>
		fact.kind === "note" && fact.topic === "model-retry" ? [(fact.value as { delay: number }).delay] : [],
	);
	for (const [at, least] of [30_000, 60_000, 120_000, 30_000].entries()) {
		expect(retries[at]).toBeGreaterThanOrEqual(least);
		expect(retries[at]).toBeLessThanOrEqual(least * 1.2);
	}
	await agent.close();
});

test.each([
	["attempts", { attempts: 2 }, 3],
	["time", { atMostMs: 130_000 }, 3],
])(
	"the number of %s is limited, then the run ends with the provider's error",
	async (_, modelWait, asked) => {
		const { agent, session, model, pass, facts } = make(() => busy, { modelWait });
		await (await session.send("go")).result();
		for (let at = 0; at < 5; at++) await pass(60_000);
		expect(model.requests).toHaveLength(asked);
		expect((await facts()).at(-1)).toMatchObject({ outcome: "error", error: { code: "RATE_LIMITED" } });
		await agent.close();
	},
);

test.each([Number.NaN, -5, Number.POSITIVE_INFINITY, 1e300])(
	"a provider that requests %s milliseconds is ignored",
	async (given) => {
		const { agent, session } = make([failing("RATE_LIMITED", 429, given), "done"]);
		const { outcome, wait } = await (await session.send("go")).result();
		if (given > 0) expect(outcome).toBe("error");
		else expect([outcome, (wait?.until ?? 0) >= began + 30_000]).toEqual(["waiting", true]);
		await agent.close();
	},
);

test("a provider that repeatedly requests no wait is called less and less often", async () => {
	const { agent, session, pass, facts } = make(() => failing("RATE_LIMITED", 429, 0));
	await (await session.send("go")).result();
	for (let at = 0; at < 60; at++) await pass(1_000);
	const waits = (await facts()).filter(({ kind }) => kind === "waiting");
	expect(waits.length).toBeLessThan(8);
	await agent.close();
});

describe("a run that waits for its model", () => {
	test("is woken by a steer, which the model sees at once", async () => {
		const { agent, session, model, pass } = make([busy, "done"]);
		const run = await session.send("go");
		await run.result();
		const steered = await session.steer("and hurry");
		expect(await steered.result()).toMatchObject({ runId: run.runId, outcome: "completed", text: "done" });
		expect(lines(model.requests[1]?.messages ?? [])).toEqual(["user: go", "user: and hurry"]);
		await pass(120_000);
		expect(model.requests).toHaveLength(2);
		await agent.close();
	});

	test("is retried at once for a message steered while the model failed", async () => {
		const gate = Promise.withResolvers<void>();
		const { agent, session, model } = make([{ ...busy, gate: gate.promise }, "done"]);
		const run = await session.send("go");
		const result = run.result();
		await settled();
		await session.steer("and hurry");
		gate.resolve();
		expect(await result).toMatchObject({ outcome: "completed", text: "done" });
		expect(lines(model.requests[1]?.messages ?? [])).toEqual(["user: go", "user: and hurry"]);
		await agent.close();
	});

	test.each(["stop", "kill"] as const)("is ended by %s, and no timer wakes it", async (how) => {
		const { agent, session, model, pass, facts } = make(() => busy);
		await (await session.send("go")).result();
		await session[how]();
		await pass(120_000);
		expect(model.requests).toHaveLength(1);
		expect((await facts()).at(-1)).toMatchObject({
			kind: "run.ended",
			outcome: how === "stop" ? "aborted" : "killed",
		});
		await agent.close();
	});

	test("precedes the turns that are sent while it waits", async () => {
		const { agent, session, pass } = make([busy, "one", "two"]);
		await (await session.send("first")).result();
		void (await session.send("second")).result();
		await pass(60_000);
		await expect
			.poll(async () => lines((await session.state()).messages))
			.toEqual(["user: first", "assistant: one", "user: second", "assistant: two"]);
		await agent.close();
	});

	test("does not involve its strategy, whatever it is", async () => {
		const seen: string[] = [];
		const noting = strategy({
			name: "noting",
			decide({ last }) {
				seen.push(last.kind);
				if (last.kind === "assistant") return { kind: "finish" };
				return { kind: "model", tag: "act", step: "next" };
			},
		});
		const { agent, session, pass } = make([look, busy, busy, "done"], { execution: noting });
		await (await session.send("go")).result();
		await pass(60_000);
		await pass(60_000);
		expect(seen).toEqual(["input", "results", "results", "results", "assistant"]);
		await agent.close();
	});

	test("is hidden from its strategy's own fold", async () => {
		const folding = strategy<readonly string[]>({
			name: "folding",
			initial: () => [],
			evolve: (own, { fact }) => [...own, fact.kind],
			decide({ last, own }) {
				if (last.kind === "assistant") seen = own;
				return last.kind === "assistant" ? { kind: "finish" } : { kind: "model", tag: "act", step: "next" };
			},
		});
		let seen: readonly string[] = [];
		const { agent, session, pass } = make([busy, "done"], { execution: folding, maxSteps: 5 });
		await (await session.send("go")).result();
		await pass(60_000);
		expect(seen).toEqual(["run.started", "input", "run.resumed", "assistant"]);
		await agent.close();
	});

	test.each([
		["react", react, ["Think.", "acted"]],
		[
			"plan",
			plan,
			[
				{ text: JSON.stringify({ steps: [{ id: "1", description: "a", dependsOn: [] }] }) },
				"step one",
				"all done",
			],
		],
	] as const)("continues in the middle of %s", async (_, make_, answers) => {
		const left = make([...answers] as Script, { execution: make_() });
		await (await left.session.send("go")).result();
		const expected = lines((await left.session.state()).messages);
		const script = answers.flatMap((answer) => [busy, answer]) as Script;
		const { agent, session, pass, facts } = make(script, { execution: make_() });
		await (await session.send("go")).result();
		for (let at = 0; at < answers.length + 1; at++) await pass(60_000);
		expect((await facts()).at(-1)).toMatchObject({ kind: "run.ended", outcome: "completed" });
		expect(lines((await session.state()).messages)).toEqual(expected);
		await left.agent.close();
		await agent.close();
	});

	test("shows its watchers one end of each step, and followers the same events as those in the process", async () => {
		const { agent, session, pass } = make([look, busy, "done"]);
		const run = await session.send("go");
		const events = await collect(run.watch());
		await run.result();
		await pass(60_000);
		const followed = (await collect(session.follow())).map(({ event }) => event.type);
		const count = (type: string, list: readonly string[]): number =>
			list.filter((each) => each === type).length;
		expect(
			count(
				"step_end",
				events.map(({ type }) => type),
			),
		).toBe(1);
		expect(count("step_end", followed)).toBe(2);
		expect(count("waiting", followed)).toBe(1);
		expect(followed.at(-1)).toBe("run_end");
		await agent.close();
	});
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
			return { first: sqliteHost(path), next: () => sqliteHost(path) };
		},
	],
] as const)(
	"such a wait survives its process, in %s, and ends in time wherever a worker uses the store",
	async (name, hosts) => {
		const time = manualTime();
		const { first, next } = hosts();
		const before = make(() => busy, { host: first }, time);
		expect((await (await before.session.send("go")).result()).outcome).toBe("waiting");
		await before.agent.close();
		if (name === "SQLite") await first.close();
		const host = next();
		const after = make(() => "done", { host }, time);
		await collect(after.agent.work({ until: "done" }));
		expect(after.model.requests).toHaveLength(0);
		await after.pass(60_000);
		await expect.poll(async () => (await after.session.state()).messages.at(-1)?.text).toBe("done");
		expect(after.model.requests).toHaveLength(1);
		await after.agent.close();
		await host.close();
	},
);

describe("without the option", () => {
	test("runs wait on a durable host", async () => {
		const host = sqliteHost(join(temporaryFolder(), "s.db"));
		const agent = new Agent({ model: scriptedModel([busy]), host });
		expect((await (await agent.session("s").send("go")).result()).outcome).toBe("waiting");
		await agent.close();
		await host.close();
	});

	test("they fail in memory, with `never`, and without a session", async () => {
		const error = { code: "RATE_LIMITED", retryable: true };
		const inMemory = new Agent({ model: scriptedModel(() => busy) });
		expect(await (await inMemory.send("go")).result()).toMatchObject({ outcome: "error", error });
		const host = sqliteHost(join(temporaryFolder(), "s.db"));
		const never = new Agent({ model: scriptedModel(() => busy), host, modelWait: "never" });
		expect(await (await never.send("go")).result()).toMatchObject({ outcome: "error", error });
		const calls = new Agent({ model: scriptedModel(() => busy), host });
		await expect(calls.generate("go")).rejects.toMatchObject(error);
		await never.close();
		await calls.close();
		await inMemory.close();
		await host.close();
	});
});

test.each([{ modelWait: "sometimes" }, { modelWait: { attempts: 0 } }, { modelWait: { for: 1 } }])(
	"the option is checked: %o",
	(options) => {
		expect(() => make([], options as never)).toThrow(/The option `modelWait/);
	},
);

test("a parent waits with its sub-agent for the provider, without a process, and both continue on time", async () => {
	const time = manualTime();
	const helper = new Agent({
		name: "helper",
		description: "Helps.",
		model: scriptedModel([busy, busy, "helped"]),
		ports: time.ports,
		modelWait: { attempts: 2 },
	});
	const delegate = { toolCalls: [{ name: "delegate_to_helper", arguments: { prompt: "help" } }] };
	const { agent, session, pass, host } = make([delegate, "done"], { subagents: [helper] }, time);
	const run = await session.send("go");
	const wait = { tag: "model", until: began + 60_000, model: { attempt: 1 } };
	expect(await run.result()).toMatchObject({ outcome: "waiting", pending: [], wait });
	const { journal } = host;
	const waiting = () => journal.list({ state: "waiting", dueBy: Number.MAX_SAFE_INTEGER - 1 });
	expect(await waiting()).toHaveLength(2);
	await pass(60_000);
	await settled();
	expect(await waiting()).toHaveLength(2);
	await pass(60_000);
	await settled();
	expect(await journal.list({ state: "open" })).toEqual([]);
	expect((await session.state()).messages.at(-1)?.text).toBe("done");
	await agent.close();
});
