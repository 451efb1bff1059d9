import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { anyTool } from "../agent/agent.fixture.ts";
import { type Agent, agent } from "../agent/agent.ts";
import { createSubAgentTool } from "../agent/create-sub-agent-tool.ts";
import { AgentState } from "../state/agent-state.ts";
import type { ExecutionStrategy } from "../strategies/execution-strategy.ts";
import { loop } from "../strategies/loop.ts";
import { plan } from "../strategies/plan.ts";
import { react } from "../strategies/react.ts";
import type { AnyTool, ToolContext } from "../tools/types.ts";

const initial = AgentState.initial();
const parameters = { type: "object" };
const steps = [{ id: "a", description: "Do it." }];
const planned: ScriptedReply = { data: { steps }, text: JSON.stringify({ steps }) };

/** A custom strategy that lets the agent's model run the tools. */
const custom: ExecutionStrategy = {
	name: "custom",
	async execute({ llm, input, state }) {
		const turn = await llm.generate(state.messages, input);
		return { turn, state: state.withMessages(turn.messages).withStep(1) };
	},
	stream: (context) => loop().stream(context),
};

/** A custom strategy that passes its context to a built-in one. */
const handing: ExecutionStrategy = {
	name: "handing",
	execute: (context) => loop().execute(context),
	stream: (context) => loop().stream(context),
};

/** Strategies with the script that makes each of them produce the round of calls. */
const strategies: Record<string, [ExecutionStrategy, (round: ScriptedReply) => (string | ScriptedReply)[]]> =
	{
		"loop()": [loop(), (round) => [round, "done"]],
		"react()": [react(), (round) => ["I think.", round, "I have it.", "done"]],
		"plan()": [plan(), (round) => [planned, round, "done"]],
		"a custom strategy": [custom, (round) => [round, "done"]],
		"a custom strategy that hands on": [handing, (round) => [round, "done"]],
	};

describe.each(Object.entries(strategies))("in %s", (_, [execution, script]) => {
	test("a tool gets its agent and its call, in a nested agent also the surrounding call [UAP-078]", async () => {
		const seen = new Map<string, ToolContext>();
		const noting = (name: string): AnyTool =>
			anyTool(name, (_params, context) => {
				seen.set(name, context);
				return "noted";
			});
		const round = (name: string): ScriptedReply => ({ toolCalls: [{ name, id: `${name} call` }] });
		const inner = agent({
			model: scriptedModel(script(round("inner"))),
			tools: [noting("inner")],
			execution,
		});
		const descend = createSubAgentTool({
			agent: inner,
			name: "descend",
			description: "Descends.",
			parameters,
		});
		const middle = agent({ model: scriptedModel(script(round("descend"))), tools: [descend], execution });
		const ask = anyTool("ask", async (_params, context) => {
			seen.set("ask", context);
			const { signal } = context;
			return (await middle.query("go", { signal, parentContext: context })).response.text;
		});
		const model = scriptedModel(
			script({
				toolCalls: [
					{ name: "note", id: "n" },
					{ name: "ask", id: "a" },
				],
			}),
		);
		const config = { baseUrl: "http://localhost" };
		const outer = agent({ model, config, tools: [noting("note"), ask], execution });
		const { turn } = await outer.generate("go", initial);
		expect(turn.toolExecutions.map(({ isError }) => isError)).toEqual([false, false]);
		const note = seen.get("note") as ToolContext;
		expect(note).toMatchObject({ agentId: outer.id, toolCallId: "n", toolName: "note" });
		expect(note.parentModel).toBe(model);
		expect(note.parentConfig).toBe(config);
		expect(note.stateId).toMatch(/^[0-9a-f-]{36}$/);
		expect(note.onSubagentEvent).toBeTypeOf("function");
		expect(note.signal).toBeInstanceOf(AbortSignal);
		expect(note.parentContext).toBeUndefined();
		const deep = seen.get("inner") as ToolContext;
		expect(deep).toMatchObject({ agentId: inner.id, toolCallId: "inner call", parentModel: inner.model });
		expect(deep.parentContext).toMatchObject({ agentId: middle.id, toolCallId: "descend call" });
		expect(deep.parentContext?.parentContext?.toolCallId).toBe("a");
		expect(deep.parentContext?.parentContext?.agentId).toBe(outer.id);
	});

	test("a tool gets its context regardless of how it declares the parameter [UAP-080]", async () => {
		const seen: Record<string, string | undefined> = {};
		const see = (context: Partial<ToolContext> | undefined): string => {
			seen[context?.toolName ?? "?"] = context?.agentId;
			return "seen";
		};
		const runs: Record<string, NonNullable<AnyTool["run"]>> = {
			declared: (_params: unknown, context: ToolContext) => see(context),
			defaulted: (_params: unknown, context: Partial<ToolContext> = {}) => see(context),
			defaults: (_params: unknown = {}, context: Partial<ToolContext> = {}) => see(context),
			rest: (...given: unknown[]) => see(given[1] as ToolContext),
			classic(_params: unknown) {
				// biome-ignore lint/complexity/noArguments: older tools are written so
				return see(arguments[1]);
			},
		};
		const tools = Object.entries(runs).map(([name, run]): AnyTool => {
			return { name, description: name, parameters, run };
		});
		expect(Object.values(runs).map((run) => run.length)).toEqual([2, 1, 0, 0, 1]);
		const round = { toolCalls: tools.map(({ name = "" }) => ({ name })) };
		const one = agent({ model: scriptedModel(script(round)), tools, execution });
		await one.generate("go", initial);
		expect(seen).toEqual(Object.fromEntries(tools.map(({ name }) => [name, one.id])));
	});

	test("the caller's tools are unchanged, and two agents that share one get their own contexts [UAP-081]", async () => {
		const seen: string[] = [];
		const run = (_params: unknown, context: ToolContext) => {
			seen.push(context.agentId);
			return "seen";
		};
		const tool = Object.freeze({
			name: "look",
			description: "Looks.",
			parameters: Object.freeze({ ...parameters }),
			run,
		});
		const tools = Object.freeze([tool]);
		const make = (): Agent =>
			agent({ model: scriptedModel(script({ toolCalls: [{ name: "look" }] })), tools, execution });
		const [one, two] = [make(), make()];
		await Promise.all([one.generate("go", initial), two.generate("go", initial)]);
		expect(seen.sort()).toEqual([one.id, two.id].sort());
		expect(one.tools[0]).toBe(tool);
		expect(two.tools[0]).toBe(tool);
		expect(tool.run).toBe(run);
	});
});

describe("the content of a context", () => {
	test("is the state before the call's results, read on access", async () => {
		const seen: [string, number][] = [];
		const look = anyTool("look", (_, context) => void seen.push([context.stateId, context.messages.length]));
		const model = scriptedModel([
			{ toolCalls: [{ name: "look" }] },
			{ toolCalls: [{ name: "look" }] },
			"done",
		]);
		await agent({ model, tools: [look] }).generate("go", initial);
		expect(seen.map(([, messages]) => messages)).toEqual([2, 4]);
		expect(new Set(seen.map(([id]) => id)).size).toBe(2);
	});

	test("is kept whole by a copy, with the values at the time of the copy", async () => {
		const names = [
			"agentId",
			"attempt",
			"emit",
			"idempotencyKey",
			"messages",
			"onSubagentEvent",
			"parentConfig",
			"parentModel",
			"retryPolicy",
			"runId",
			"signal",
			"stateId",
			"step",
			"toolCallId",
			"toolName",
		] as const;
		const copies: ToolContext[] = [];
		const look = anyTool("look", (_, context) => {
			const copy = { ...context };
			copies.push(copy);
			for (const name of names) expect(copy[name], name).toBe(context[name]);
			return "seen";
		});
		const model = scriptedModel([{ toolCalls: [{ name: "look" }] }, "done"]);
		const one = agent({ model, tools: [look] });
		expect((await one.generate("go", initial)).turn.toolExecutions).toMatchObject([{ result: "seen" }]);
		const [copy] = copies as [ToolContext];
		expect(Object.keys(copy).sort()).toEqual(names);
		expect(copy).toMatchObject({ agentId: one.id, stateId: expect.stringMatching(/^[0-9a-f-]{36}$/) });
		expect(copy.messages).toHaveLength(2);
		expect(copy.parentModel).toBe(model);
	});

	test("once the call has its result, later emits of its tool are dropped", async () => {
		const kept: ToolContext[] = [];
		const leak = anyTool("leak", (_, context) => void kept.push(context));
		const model = scriptedModel([{ toolCalls: [{ name: "leak" }] }, "done"]);
		const stream = agent({ model, tools: [leak] }).stream("go", initial);
		const late = { type: "subagent_start", subagentId: "x", subagentType: "x", parentToolCallId: "x" };
		for await (const event of stream) {
			expect(event.uap?.type).not.toBe("subagent_start");
			if (event.uap?.type === "step_end") kept[0]?.onSubagentEvent(late);
		}
	});
});

describe("a spread agent", () => {
	test("keeps its named tools, its system prompt and its parameters", async () => {
		const look = { description: "Looks.", parameters, run: () => "seen" };
		const helper = agent({
			instructions: "Help.",
			tools: { look },
			params: { temperature: 0 },
		});
		expect(helper.tools).toEqual([look]);
		expect(helper.tools[0]).toBe(look);
		const model = scriptedModel([{ toolCalls: [{ name: "look" }] }, "done"]);
		const config = { baseUrl: "x" };
		const spread = agent({ ...agent({ ...helper }), model, config });
		const { turn } = await spread.generate("go", initial);
		expect(turn.toolExecutions).toMatchObject([{ toolName: "look", result: "seen" }]);
		expect(model.requests[0]).toMatchObject({
			system: "Help.",
			params: { temperature: 0 },
			config,
		});
		expect(spread.id).not.toBe(helper.id);
	});
});
