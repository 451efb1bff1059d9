// What a strategy decides synchronously shares an append with what it belongs to: the answer with the resulting calls,
// the result with its conclusion, the last answer with the end of the run.
import { scriptedModel } from "@holdfast/testing";
import { UserMessage } from "@holdfast/upp";
import { expect, test } from "vitest";
import { anyTool, collect } from "../agent/agent.fixture.ts";
import { Agent, agent } from "../agent/agent.ts";
import type { AgentOptions } from "../agent/options.ts";
import type { Fact, ToolSettled } from "../facts/fact.ts";
import { followSession } from "../following/follow-session.ts";
import type { Host } from "../host/host-port.ts";
import type { Append } from "../host/journal.ts";
import { memoryHost } from "../host/memory-host.ts";
import type { Interceptor } from "../policy/interceptor.ts";
import type { AgentRun } from "../sessions/agent-run.ts";
import { strategy } from "./strategy.ts";

interface Own {
	readonly planned: number;
	readonly noted: readonly unknown[];
	readonly open: boolean;
}

const none: Own = { planned: 0, noted: [], open: false };

/** Repeatedly asks what to examine, examines it, and records the result. */
function looking(times: number, asked: { plan: unknown[]; note: unknown[] }) {
	const act = (input: unknown) =>
		({
			kind: "tools",
			step: "next",
			calls: [{ toolName: "look", arguments: input as Record<string, unknown> }],
			concludes: ({ outcome, result }: ToolSettled) =>
				outcome === "done" ? { topic: "noted", answer: { saw: result } } : undefined,
		}) as const;
	return strategy<Own & { input?: unknown; settled?: unknown }>({
		name: "looking",
		initial: () => none,
		evolve(own, { fact }) {
			if (fact.kind === "decision" && fact.topic === "planned")
				return { ...own, planned: own.planned + 1, input: fact.answer };
			if (fact.kind === "tools.requested") return { ...own, input: undefined };
			if (fact.kind === "tool.settled") return { ...own, open: true, settled: fact.result };
			if (fact.kind === "decision") return { ...own, open: false, noted: [...own.noted, fact.answer] };
			return own;
		},
		decide({ own }) {
			if (own.input !== undefined) return act(own.input);
			if (own.open)
				return {
					kind: "ask",
					topic: "noted",
					question: () => {
						asked.note.push(own.settled);
						return { saw: own.settled };
					},
				};
			if (own.planned === times) return { kind: "finish", text: JSON.stringify(own.noted) };
			return {
				kind: "ask",
				topic: "planned",
				question: () => {
					asked.plan.push(own.planned);
					return { at: own.planned };
				},
				follows: act,
			};
		},
	});
}

/** A host that records which facts were appended together. */
function batches() {
	const host = memoryHost();
	const appended: string[][] = [];
	const said = (fact: Fact): string =>
		fact.kind === "decision" || fact.kind === "note" ? fact.topic : fact.kind;
	const { acquire } = host.journal;
	host.journal.acquire = async (...given) => {
		const acquired = await acquire.apply(host.journal, given);
		if (!acquired.ok) return acquired;
		const { lease } = acquired;
		const append = lease.append.bind(lease);
		lease.append = (batch: Append) => {
			if (batch.facts.length > 0) appended.push(batch.facts.map(said));
			return append(batch);
		};
		return acquired;
	};
	return { host, appended };
}

async function look(more: Partial<AgentOptions> = {}, run: (at: number) => unknown = (at) => `seen ${at}`) {
	const asked = { plan: [] as unknown[], note: [] as unknown[] };
	const { host, appended } = batches();
	const looker = new Agent({
		model: scriptedModel([]),
		tools: [anyTool("look", ({ at }) => run(Number(at)))],
		execution: looking(2, asked),
		host,
		...more,
	});
	const result = await (await looker.session("s").send("go")).result();
	const entries = await host.journal.read("s");
	await looker.close();
	return { asked, appended, result, facts: entries.map(({ fact }) => fact) };
}

const perStep = [
	["planned", "tools.requested", "tool.started"],
	["tool.settled", "noted"],
];
const inTwo = [["run.started", "input"], ...perStep, ...perStep, ["assistant", "run.ended"]];

test("an answer is appended with its calls, a result with its conclusion: two appends per step", async () => {
	const { asked, appended, result } = await look();
	expect(appended).toEqual(inTwo);
	expect(result.text).toBe('[{"saw":"seen 0"},{"saw":"seen 1"}]');
	expect(asked).toEqual({ plan: [0, 1], note: [] });
});

test.each([
	["at once", <T>(given: T) => given],
	["later", async <T>(given: T) => given],
])(
	"policy that returns %s sees each fact once, and the next facts build on what it accepted",
	async (_, when) => {
		const admitted: string[] = [];
		const policy: Interceptor = {
			name: "policy",
			admitWaiting: "as-is",
			begin: () => ({
				deltas: "as-is",
				admit(fact) {
					admitted.push(fact.kind === "decision" ? fact.topic : fact.kind);
					if (fact.kind === "decision" && fact.topic === "planned") {
						const { at } = fact.answer as { at: number };
						return when({
							fact: { ...fact, answer: { at: at + 10 } },
							notes: [{ topic: "audit", value: `plan ${at}` }],
						});
					}
					if (fact.kind !== "tool.settled") return when(undefined);
					const result = String(fact.result).replace("seen", "[masked]");
					return when({ fact: { ...fact, result }, notes: [{ topic: "audit", value: "result" }] });
				},
			}),
		};
		const seen: number[] = [];
		const { appended, result, facts } = await look({ middleware: [policy] }, (at) => {
			seen.push(at);
			return `seen ${at}`;
		});
		expect(seen).toEqual([10, 11]);
		expect(result.text).toBe('[{"saw":"[masked] 10"},{"saw":"[masked] 11"}]');
		expect(JSON.stringify(facts)).not.toContain("seen");
		const once = ["planned", "tools.requested", "tool.started", "tool.settled", "noted"];
		expect(admitted).toEqual(["run.started", "input", ...once, ...once, "assistant", "run.ended"]);
		const step = [
			["audit", "planned", "tools.requested", "tool.started"],
			["audit", "tool.settled", "noted"],
		];
		expect(appended).toEqual([["run.started", "input"], ...step, ...step, ["assistant", "run.ended"]]);
	},
);

test("a call starts in the append that requests it, even if its result is replaced", async () => {
	const replacing: Interceptor = {
		name: "replacing",
		begin: () => ({ toolResult: async ({ status, output }) => ({ status, output: `[masked] ${output}` }) }),
	};
	const { appended, result } = await look({ middleware: [replacing] });
	expect(appended).toEqual(inTwo);
	expect(result.text).toBe('[{"saw":"[masked] seen 0"},{"saw":"[masked] seen 1"}]');
});

test("if a hook is called at the start of a step, the answer is recorded before it", async () => {
	const recorded: boolean[] = [];
	const { host } = batches();
	const asked = { plan: [] as unknown[], note: [] as unknown[] };
	const looker = agent({
		model: scriptedModel([]),
		tools: [anyTool("look", () => "seen")],
		execution: looking(1, asked),
		host,
		strategy: {
			onStepStart: async () => {
				const facts = (await host.journal.read("s")).map(({ fact }) => fact);
				recorded.push(facts.some(({ kind }) => kind === "decision"));
			},
		},
	});
	await (await looker.session("s").send("go")).result();
	expect(recorded).toEqual([true]);
	await looker.close();
});

test("a watcher that paces the run delays no answer: it is recorded while the next step is not read", async () => {
	const { host, appended } = batches();
	const asked = { plan: [] as unknown[], note: [] as unknown[] };
	const looker = new Agent({
		model: scriptedModel([]),
		tools: [anyTool("look", () => "seen")],
		execution: looking(1, asked),
		host,
		unread: "wait",
	});
	const run = await looker.session("s").send("go");
	const seen: string[] = [];
	for await (const event of run.events()) {
		seen.push(event.type);
		if (event.type !== "step-start") continue;
		await expect.poll(() => appended.flat()).toContain("planned");
		expect(appended.flat()).not.toContain("tool.started");
	}
	expect(seen).toContain("step-start");
	expect(asked.plan).toEqual([0]);
	expect((await run.result()).outcome).toBe("completed");
	await looker.close();
});

test("a call that fails has no conclusion: the strategy is called instead", async () => {
	const { asked, appended, result } = await look({}, () => {
		throw new Error("dark");
	});
	expect(asked.note).toEqual(["dark", "dark"]);
	expect(appended.flat().filter((kind) => kind === "noted")).toHaveLength(2);
	expect(result.outcome).toBe("completed");
});

test("a run that is interrupted while its tool works draws no conclusion from it", async () => {
	const { host } = batches();
	const asked = { plan: [] as unknown[], note: [] as unknown[] };
	const entered = Promise.withResolvers<void>();
	const looker = new Agent({
		model: scriptedModel([]),
		tools: [
			anyTool("look", () => {
				entered.resolve();
				return new Promise(() => {});
			}),
		],
		execution: looking(1, asked),
		host,
	});
	const run = await looker.session("s").send("go");
	await entered.promise;
	run.interrupt();
	expect((await run.result()).outcome).toBe("aborted");
	const facts = (await host.journal.read("s")).map(({ fact }) => fact);
	expect(facts.map((fact) => (fact.kind === "decision" ? fact.topic : fact.kind)).slice(2)).toEqual([
		"planned",
		"tools.requested",
		"tool.started",
		"tool.settled",
		"run.ended",
	]);
	await looker.close();
});

test("an impossible consequence of an answer leaves the answer recorded", async () => {
	const { host } = batches();
	const bad = strategy({
		name: "bad",
		decide: () => ({
			kind: "ask",
			topic: "planned",
			question: () => "nothing",
			follows: () => ({ kind: "tools", calls: [] }) as never,
		}),
	});
	const run = await agent({ model: scriptedModel([]), execution: bad, host })
		.session("s")
		.send("go");
	expect(await run.result()).toMatchObject({ outcome: "error", error: { code: "invalid_action" } });
	const facts = (await host.journal.read("s")).map(({ fact }) => fact);
	expect(facts.find(({ kind }) => kind === "decision")).toMatchObject({ answer: "nothing" });
});

test("several calls cannot have a joint conclusion: that is rejected with invalid_action", async () => {
	const calls = [
		{ toolName: "look", arguments: {} },
		{ toolName: "look", arguments: {} },
	];
	const several = strategy({
		name: "several",
		decide: () => ({ kind: "tools", step: "next", calls, concludes: () => undefined }),
	});
	const looker = agent({ model: scriptedModel([]), tools: [anyTool("look", () => 1)], execution: several });
	await expect(looker.generate("go")).rejects.toMatchObject({
		code: "invalid_action",
		message: expect.stringContaining("concludes"),
	});
});

/** The appends of a run with one tool call, before which `prepare` may send something. */
async function answered(
	more: Partial<AgentOptions>,
	prepare: (run: AgentRun, host: Host) => unknown = () => {},
): Promise<{ readonly appended: readonly string[][]; readonly events: readonly unknown[] }> {
	const { host, appended } = batches();
	const held = Promise.withResolvers<void>();
	const looker = new Agent({
		model: scriptedModel([{ toolCalls: [{ name: "look" }] }, "Seen.", "Heard."]),
		tools: [anyTool("look", () => held.promise)],
		host,
		...more,
	});
	const run = await looker.session("s").send("go");
	const prepared = prepare(run, host);
	held.resolve();
	await prepared;
	expect((await run.result()).outcome).toBe("completed");
	const events = await collect(followSession(host, "s"));
	await looker.close();
	return { appended, events: events.map(({ id, event }) => [id, event.type]) };
}

const began = [["run.started", "input"], ["assistant", "tool.started"], ["tool.settled"]];
const apart = [...began, ["assistant"], ["run.ended"]];

test("the last answer is appended with the end of the run, and followers see the same as with two appends", async () => {
	const together = await answered({});
	expect(together.appended).toEqual([...began, ["assistant", "run.ended"]]);
	const both = await answered({ strategy: { onStepEnd: () => {} } });
	expect(both.appended).toEqual(apart);
	expect(together.events).toEqual(both.events);
});

test("watchers see the end of the last step between the answer and the end of the run", async () => {
	const seen: string[] = [];
	const model = scriptedModel(["Seen."]);
	const looker = new Agent({ model, host: memoryHost() });
	const run = await looker.session("s").send("go");
	run.detach();
	for await (const { type, seq, sub } of run.watch()) seen.push(`${seq}.${sub} ${type}`);
	const observed = await answered({});
	expect(seen.slice(-3)).toEqual(["3.0 message", "3.1 step_end", "4.0 run_end"]);
	expect(observed.events.slice(-3).map((event) => (event as string[])[1])).toEqual([
		"message",
		"step_end",
		"run_end",
	]);
	await looker.close();
});

test.each<[string, Partial<AgentOptions>, ((run: AgentRun) => unknown)?]>([
	["a condition may stop the run", { strategy: { stopCondition: () => false } }],
	[
		"policy looks at facts",
		{ middleware: [{ name: "policy", admitWaiting: "as-is", begin: () => ({ admit: () => undefined }) }] },
	],
	[
		"policy is asked at the end of a step",
		{ middleware: [{ name: "policy", begin: () => ({ stepAfter() {} }) }] },
	],
	[
		"an output is to be checked",
		{ output: { type: "string" }, model: scriptedModel([{ toolCalls: [{ name: "look" }] }, '"Seen."']) },
	],
	["a consumer holds the run at its boundaries", {}, (run) => collect(run.events())],
	["somebody watches the run, and may still say something", {}, (run) => collect(run.watch())],
	[
		"a strategy has to be asked",
		{
			execution: strategy({
				name: "asked",
				decide: ({ last }) =>
					last.kind === "assistant" ? { kind: "finish" } : { kind: "model", tag: "act", step: "next" },
			}),
		},
	],
])("the last answer is recorded before the run ends if %s", async (_, more, prepare) => {
	const { appended } = await answered(more, prepare);
	const kinds = appended.map((batch) => batch.filter((kind) => kind === "assistant" || kind === "run.ended"));
	expect(kinds.filter((batch) => batch.length > 0)).toEqual([["assistant"], ["assistant"], ["run.ended"]]);
});

test("if a message arrived in the meantime, the answer is recorded alone, and the run continues with the message", async () => {
	const { appended, events } = await answered({}, async (run, host) => {
		// Sent by another process: nothing in this one is notified.
		const message = new UserMessage("Listen.");
		await host.journal.submit("s", {
			id: message.id,
			kind: "steer",
			runId: run.runId,
			body: { message: message.toJSON(), shape: "text" },
		});
	});
	expect(appended.slice(3)).toEqual([
		["assistant", "run.ended"], // refused
		["assistant"],
		["run.ended"], // refused
		["input"],
		["assistant", "run.ended"],
	]);
	expect(events.slice(-7).map((event) => (event as string[])[1])).toEqual([
		"message",
		"step_end",
		"input",
		"step_start",
		"message",
		"step_end",
		"run_end",
	]);
});
