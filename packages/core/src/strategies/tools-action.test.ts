import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import type { Turn } from "@holdfast/upp";
import fc from "fast-check";
import { expect, test } from "vitest";
import { anyTool, collect, contentOf, kinds } from "../agent/agent.fixture.ts";
import { Agent, agent } from "../agent/agent.ts";
import { type AgentOptions, resolveAgent } from "../agent/options.ts";
import type { Action, RequestedCall, Situation } from "../engine/action.ts";
import { faultsOfHistory } from "../engine/engine.fixture.ts";
import { foldOptions } from "../engine/fold-options.ts";
import { evolve } from "../facts/evolve.ts";
import type { Entry } from "../facts/fact.ts";
import { initialSession } from "../facts/session-state.ts";
import { cutOff } from "../host/cut-off.fixture.ts";
import { journalHost } from "../host/host-port.ts";
import { memoryHost } from "../host/memory-host.ts";
import { type MemoryJournal, memoryJournal } from "../host/memory-journal.ts";
import { AgentState } from "../state/agent-state.ts";
import { strategy } from "./strategy.ts";

const calls: readonly RequestedCall[] = [
	{ toolName: "add", arguments: { a: 2, b: 3 }, toolCallId: "sum" },
	{ toolName: "gone", arguments: {} },
];
const add = anyTool("add", ({ a, b }) => Number(a) + Number(b), {
	parameters: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } },
});

/** Calls tools in its first step, and shows the model their results in the second. */
const fetchFirst = strategy({
	name: "fetch-first",
	decide({ last, step, executions }): Action {
		if (last.kind === "assistant") return { kind: "finish" };
		if (step === 0) return { kind: "tools", tag: "fetch", step: "next", calls, afterwards: "continues" };
		const results = executions().map(({ toolName, result, isError }) => ({ toolName, result, isError }));
		return { kind: "model", tag: "act", step: "same", prompt: `${last.tag}: ${JSON.stringify(results)}` };
	},
});

test("a strategy calls tools without a model: it gets the results, and the history has neither calls nor results", async () => {
	const model = scriptedModel(["It is five."]);
	const acted: unknown[] = [];
	const { turn, state } = await agent({
		model,
		tools: [add],
		execution: fetchFirst,
		strategy: {
			onAct: (step, actions) => void acted.push(["act", step, actions.map(({ toolName }) => toolName)]),
			onObserve: (step, seen) => void acted.push(["observe", step, seen.map(({ result }) => result)]),
		},
	}).generate("go");
	const missing = 'There is no tool "gone". Available tools: add.';
	expect(acted).toEqual([
		["act", 1, ["add", "gone"]],
		["observe", 1, [5, missing]],
	]);
	const shown = model.requests[0]?.messages.map(({ text }) => text) ?? [];
	expect(shown).toEqual([
		"go",
		`fetch: ${JSON.stringify([
			{ toolName: "add", result: 5, isError: false },
			{ toolName: "gone", result: missing, isError: true },
		])}`,
	]);
	expect(state.messages.map(({ text }) => text)).toEqual(["go", "It is five."]);
	expect(turn.toolExecutions.map(({ toolCallId, result }) => [toolCallId, result])).toEqual([
		["sum", 5],
		[expect.stringMatching(/^[\da-f-]{36}$/), missing],
	]);
});

test("a run without any model has a turn with an empty answer and its tool executions", async () => {
	const once = strategy({
		name: "once",
		decide: ({ last }) =>
			last.kind === "results"
				? { kind: "finish" }
				: { kind: "tools", step: "next", calls: calls.slice(0, 1) },
	});
	const { turn, state } = await agent({ tools: [add], execution: once }).generate("go");
	expect(turn.response.text).toBe("");
	expect(turn.toolExecutions).toMatchObject([{ toolName: "add", result: 5 }]);
	expect([state.step, state.messages.length]).toEqual([1, 1]);
});

test("watchers see the calls within their step, marked as the strategy's", async () => {
	const one = new Agent({ model: scriptedModel(["done"]), tools: [add], execution: fetchFirst });
	const run = await one.session("s").send("go");
	const events = await collect(run.watch());
	expect(events.map(({ type }) => type).filter((type) => type !== "model")).toEqual([
		...["run_start", "input", "turn_start", "step_start", "tool_start", "tool_end", "tool_end"],
		...["model_start", "message", "step_end", "run_end"],
	]);
	const ofTools = events.flatMap((event) =>
		event.type === "tool_start" || event.type === "tool_end" ? [event.requested] : [],
	);
	expect(ofTools).toEqual([true, true, true]);
	const streamed = await collect(
		agent({ model: scriptedModel(["done"]), tools: [add], execution: fetchFirst }).stream("go"),
	);
	expect(kinds(streamed)).toContain("observation");
	await one.close();
});

test("a request is recorded with the first starts, and a strategy is not called again for it", async () => {
	const host = memoryHost();
	let asked = 0;
	let ran = 0;
	const counting = strategy({
		name: "counting",
		decide(situation) {
			if (situation.step === 0) asked++;
			return fetchFirst.decide(situation);
		},
	});
	const hanging = anyTool("add", () => new Promise(() => void ran++), { retryPolicy: "pure" });
	const first = new Agent({ model: scriptedModel([]), tools: [hanging], execution: counting, host });
	const run = await first.session("s").send("go");
	for await (const event of run.watch()) if (event.type === "tool_start") run.suspend();
	expect((await run.result()).outcome).toBe("suspended");
	await first.close();
	const keys: string[] = [];
	const working = anyTool("add", (_, { idempotencyKey }) => keys.push(idempotencyKey), {
		retryPolicy: "pure",
	});
	const next = new Agent({ model: scriptedModel(["done"]), tools: [working], execution: counting, host });
	const resumed = await (await next.session("s").resume())?.result();
	expect([resumed?.outcome, asked, ran]).toEqual(["completed", 1, 1]);
	const facts = (await host.journal.read("s")).map(({ fact }) => fact);
	const starts = facts.filter((fact) => fact.kind === "tool.started");
	expect(starts.map(({ attempt, idempotencyKey }) => [attempt, idempotencyKey])).toEqual([
		[1, keys[0]],
		[2, keys[0]],
	]);
	expect(facts.filter(({ kind }) => kind === "tools.requested")).toHaveLength(1);
	await next.close();
});

test("a strategy's call that must not run twice does not, if its process died inside it", async () => {
	const journal = memoryJournal({ workerId: "dead" });
	const effects: string[] = [];
	let dies = (): void => {};
	const inside = new Promise<void>((resolve) => {
		dies = resolve;
	});
	const write = anyTool("add", (_, { idempotencyKey }) => {
		effects.push(idempotencyKey);
		dies();
		return new Promise(() => {});
	});
	const first = new Agent({
		model: scriptedModel([]),
		tools: [write],
		execution: fetchFirst,
		host: journalHost(journal),
	});
	await first
		.session("s")
		.send("go")
		.then((run) => run.detach());
	await inside;
	journal.die();
	const model = scriptedModel(["done"]);
	const next = new Agent({
		model,
		tools: [write],
		execution: fetchFirst,
		host: journalHost(journal.worker("next")),
	});
	expect((await (await next.session("s").resume())?.result())?.outcome).toBe("completed");
	expect(effects).toHaveLength(1);
	expect(model.requests[0]?.messages.at(-1)?.text).toContain("The outcome of this call is unknown");
});

test("a remote call and an approval wait for an external answer, like a model's calls", async () => {
	const remote = { name: "locate", description: "Where.", parameters: { type: "object" } } as const;
	const guarded = anyTool("guarded", () => "let through", { needsApproval: () => true });
	const asks = strategy({
		name: "asks",
		decide: ({ last, step }) => {
			if (step > 0)
				return last.kind === "assistant" ? { kind: "finish" } : { kind: "model", tag: "act", step: "same" };
			const both = ["locate", "guarded"].map((toolName) => ({
				toolName,
				arguments: {},
				toolCallId: toolName,
			}));
			return { kind: "tools", step: "next", calls: both, afterwards: "continues" };
		},
	});
	const one = new Agent({ model: scriptedModel(["done"]), tools: [remote, guarded], execution: asks });
	const session = one.session("s");
	const { outcome, pending } = await (await session.send("go")).result();
	expect([outcome, pending?.map(({ toolName, awaits }) => [toolName, awaits])]).toEqual([
		"waiting",
		[
			["locate", "result"],
			["guarded", "approval"],
		],
	]);
	const answered = await session.answer([
		{ toolCallId: "locate", output: "here" },
		{ toolCallId: "guarded", approved: true },
	]);
	const { turn } = await answered.result();
	expect(turn?.toolExecutions.map(({ result }) => result)).toEqual(["here", "let through"]);
	await expect(session.answer([{ toolCallId: "locate", output: "here" }])).rejects.toMatchObject({
		code: "no_pending_tool_calls",
	});
	await one.close();
});

test("the limits of steps and of rounds also count the strategy's calls", async () => {
	const forever = strategy({
		name: "forever",
		decide: () => ({ kind: "tools", step: "next", calls: calls.slice(0, 1) }),
	});
	const options: AgentOptions = { tools: [add], execution: forever };
	await expect(agent({ ...options, maxSteps: 3 }).generate("go")).rejects.toMatchObject({
		code: "max_steps_exceeded",
	});
	const reached: number[] = [];
	const toolStrategy = { maxIterations: 2, onMaxIterations: (limit: number) => void reached.push(limit) };
	await expect(agent({ ...options, toolStrategy }).generate("go")).rejects.toThrow("2 tool rounds");
	expect(reached).toEqual([2]);
});

test.each([
	["no calls", { calls: [] }],
	["invalid calls", { calls: [{ toolName: "add" }] }],
	["arguments that are a list", { calls: [{ toolName: "add", arguments: [] }] }],
	["one id twice", { calls: [calls[0], calls[0]] }],
	["nothing", {}],
])("a strategy that requests %s fails the run with invalid_action", async (_, wrong) => {
	const bad = strategy({ name: "bad", decide: () => ({ kind: "tools", step: "next", ...wrong }) as never });
	await expect(agent({ tools: [add], execution: bad }).generate("go")).rejects.toMatchObject({
		code: "invalid_action",
		message: expect.stringContaining('"bad"'),
	});
});

// A custom strategy's plan: calls, notes and questions to the model in any order.

type Move = "tools" | "both" | "note" | "model" | "ask" | "reason" | "wait";
const moves: readonly (readonly Move[])[] = [
	["tools", "model"],
	["model", "tools", "tools", "model"],
	["ask", "both", "note", "model"],
	["tools", "reason", "both", "note"],
	["wait", "both", "both", "both", "wait"],
];
const anyPlan = fc.array(fc.constantFrom<Move>("tools", "both", "note", "model", "ask", "reason", "wait"), {
	maxLength: 6,
});

/** Makes its moves one after the other; their number is recorded. */
function moving(plan: readonly Move[]) {
	const decide = ({ state, last }: Situation): Action => {
		const made = Number(state.metadata.made ?? 0);
		if (last.kind !== "note" && !(last.kind === "input" && last.tag === "turn"))
			return { kind: "note", topic: "metadata", value: { key: "made", value: made + 1 } };
		const calling = (...names: string[]): Action => ({
			kind: "tools",
			tag: `move ${made}`,
			step: made % 2 === 0 ? "next" : "same",
			calls: names.map((toolName, at) => ({ toolName, arguments: { at }, toolCallId: `${made}-${at}` })),
			afterwards: "continues",
		});
		switch (plan[made]) {
			case "tools":
				return calling("look");
			case "both":
				return calling("look", "fail");
			case "note":
				return { kind: "note", topic: "metadata", value: { key: "made", value: made + 1 } };
			case "ask":
				return { kind: "ask", topic: "colour", question: () => "blue" };
			case "wait":
				return { kind: "wait", until: made };
			case "model":
			case "reason":
				return { kind: "model", tag: String(plan[made]), step: "next", afterwards: "continues" };
			default:
				return { kind: "finish" };
		}
	};
	return strategy({ name: "moving", decide });
}

const pure = { retryPolicy: "pure" } as const;
const tools = [
	anyTool("look", ({ at }) => `seen ${at}`, pure),
	anyTool("fail", () => Promise.reject(new Error("no luck")), pure),
];

function moverOptions(plan: readonly Move[]) {
	// Depends only on the request: the same request gets the same answer.
	const answer = ({ messages }: { messages: readonly { type: string }[] }): ScriptedReply | string => {
		const answers = messages.filter(({ type }) => type === "assistant").length;
		return answers === 0
			? { text: "Hm.", toolCalls: [{ name: "look", arguments: { at: 7 }, id: "m" }] }
			: "So.";
	};
	return { model: scriptedModel(answer), tools, execution: moving(plan) };
}

function mover(journal: MemoryJournal, plan: readonly Move[]): Agent {
	return new Agent({ ...moverOptions(plan), host: journalHost(journal) });
}

test.each(moves.map((plan) => [plan.join(", "), plan] as const))(
	"a run of %s, resumed from every entry, ends the same, and makes no additional calls",
	async (_, plan) => {
		const journal = memoryJournal();
		const alone = mover(journal, plan);
		const { state, outcome } = await (await alone.session("k").send("go")).result();
		expect(outcome).toBe("completed");
		expect(faultsOfHistory(state.messages)).toEqual([]);
		const entries = await journal.read("k");
		const kept = (all: readonly Entry[], kind: string) => all.filter(({ fact }) => fact.kind === kind).length;
		for (let count = 2; count < entries.length; count++) {
			const cut = cutOff(entries.slice(0, count));
			const next = mover(cut, plan);
			const found = await (await next.session("k").resume())?.result();
			expect(contentOf(found?.state ?? AgentState.initial()), `cut after entry ${count}`).toEqual(
				contentOf(state),
			);
			const after = await cut.read("k");
			for (const kind of ["tools.requested", "tool.settled", "assistant", "decision", "note", "wait.ended"])
				expect([kind, kept(after, kind)], `cut after entry ${count}`).toEqual([kind, kept(entries, kind)]);
			await next.close();
		}
		await alone.close();
	},
);

test("any plan ends the same as a function, as a stream, as a session, and after a crash anywhere", async () => {
	await fc.assert(
		fc.asyncProperty(anyPlan, fc.nat(), async (plan, cut) => {
			const generated = await agent(moverOptions(plan)).generate("go");
			const stream = agent(moverOptions(plan)).stream("go");
			await collect(stream);
			expect(contentOf((await stream.result).state)).toEqual(contentOf(generated.state));
			const journal = memoryJournal();
			const alone = mover(journal, plan);
			const { state, turn } = await (await alone.session("k").send("go")).result();
			expect(contentOf(state)).toEqual(contentOf(generated.state));
			const executed = ({ toolExecutions }: Turn) => toolExecutions.map((each) => ({ ...each, duration: 0 }));
			if (turn !== undefined) expect(executed(turn)).toEqual(executed(generated.turn));
			const entries = await journal.read("k");
			let folded = initialSession(AgentState.initial());
			const fold = foldOptions(resolveAgent("agent", moverOptions(plan)));
			for (const entry of entries) folded = evolve(folded, entry, fold);
			expect(contentOf(folded.agent)).toEqual(contentOf(state));
			expect(faultsOfHistory(folded.context.toArray())).toEqual([]);
			const next = mover(cutOff(entries.slice(0, 2 + (cut % (entries.length - 2)))), plan);
			const resumed = await (await next.session("k").resume())?.result();
			expect(contentOf(resumed?.state ?? AgentState.initial())).toEqual(contentOf(state));
			await alone.close();
			await next.close();
		}),
		{ numRuns: 150 },
	);
});
