import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { type Message, ToolResultMessage, UPPError } from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import type { AgentStreamEvent } from "../engine/uap-events.ts";
import { AgentState } from "../state/agent-state.ts";
import type { AgentStateJSON } from "../state/agent-state-json.ts";
import type { SubagentExecutionTrace } from "../state/subagent-trace.ts";
import type { ExecutionStrategy } from "../strategies/execution-strategy.ts";
import { loop } from "../strategies/loop.ts";
import { plan } from "../strategies/plan.ts";
import { react } from "../strategies/react.ts";
import type { SubagentEvent } from "../tools/subagent-event.ts";
import { anyTool, collect, dataOf, deafModel, kinds } from "./agent.fixture.ts";
import { type Agent, agent } from "./agent.ts";
import { type CreateSubAgentToolOptions, createSubAgentTool } from "./create-sub-agent-tool.ts";

const uuid4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const initial = AgentState.initial();
const parameters = { type: "object", properties: { task: { type: "string" } }, required: ["task"] };

type Data = Record<string, unknown> & { readonly innerEvent: AgentStreamEvent };

/** A tool named "explore" that delegates its task to an agent. */
const explore = (child: Agent, options: Partial<CreateSubAgentToolOptions> = {}) =>
	createSubAgentTool({ agent: child, name: "explore", description: "Explores.", parameters, ...options });

/** An answer that calls a tool once per task, with the tasks as ids. */
const calling = (name: string, ...tasks: string[]): ScriptedReply => ({
	toolCalls: tasks.map((task) => ({ name, id: task, arguments: { task } })),
});

const parentOf = (
	child: Agent,
	script: readonly (string | ScriptedReply)[] = [calling("explore", "t"), "done"],
) => agent({ model: scriptedModel(script), tools: [explore(child)] });

/** The results in a request. */
const shownResults = (messages: readonly Message[]) =>
	messages.flatMap((message) => (message instanceof ToolResultMessage ? message.results : []));

/** Reads until it finds an event. */
async function until(
	events: AsyncIterator<AgentStreamEvent>,
	found: (event: AgentStreamEvent) => boolean,
): Promise<AgentStreamEvent> {
	for (;;) {
		const { done, value } = await events.next();
		if (done) throw new Error("the stream ended before the event");
		if (found(value)) return value;
	}
}

/** The innermost event, with its depth. */
function innermost(event: AgentStreamEvent, depth = 0): { event: AgentStreamEvent; depth: number } {
	if (event.uap?.type !== "subagent_event") return { event, depth };
	return innermost(event.uap.data.innerEvent as AgentStreamEvent, depth + 1);
}

describe("a handwritten tool that calls an agent", () => {
	test("shows the model the declared schema, and returns the agent's text as the result [UAP-077]", async () => {
		const explorer = agent({ model: scriptedModel(["It is in app.ts."]), system: "You explore." });
		const tool = {
			name: "explore_codebase",
			description: "Finds files.",
			parameters: {
				type: "object",
				properties: { query: { type: "string", description: "What to find" } },
				required: ["query"],
			},
			run: async ({ query }: { query: string }) => (await explorer.query(`Find: ${query}`)).response.text,
		};
		const call = { name: "explore_codebase", arguments: { query: "the entry" } };
		const model = scriptedModel([{ toolCalls: [call] }, "done"]);
		await agent({ model, tools: [tool] }).generate("go", initial);
		const [offered] = model.requests[0]?.tools ?? [];
		expect(offered).toMatchObject({ name: tool.name, description: tool.description });
		expect(offered?.parameters).toEqual(tool.parameters);
		expect(shownResults(model.requests[1]?.messages ?? []).map(({ result }) => result)).toEqual([
			"It is in app.ts.",
		]);
	});

	test("may pass on the caller's model, which is the one of each call, while its own model is kept [UAP-079]", async () => {
		const helper = agent({ system: "You help.", params: { temperature: 0 } });
		const help = anyTool("help", async (_, context) => {
			const works = agent({
				...helper,
				model: context.parentModel as never,
				config: context.parentConfig as never,
			});
			return (await works.query("task")).response.text;
		});
		for (const name of ["one", "two"]) {
			const model = scriptedModel([calling("help", "t"), `helped by ${name}`, "done"]);
			const { turn } = await agent({ model, config: { baseUrl: name }, tools: [help] }).generate(
				"go",
				initial,
			);
			expect(turn.toolExecutions[0]?.result).toBe(`helped by ${name}`);
			expect(model.requests[1]).toMatchObject({
				system: "You help.",
				params: { temperature: 0 },
				config: { baseUrl: name },
			});
		}
	});

	test("that emits an incomplete end leaves a trace that can be read", async () => {
		const odd = [
			{ toolExecutions: [{ toolName: "look", arguments: { a: 1 }, result: { found: [1] }, extra: 1 }] },
			{
				timestamp: 0.5,
				success: "yes",
				usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2, cycles: [null] },
			},
			{ error: new Error("no"), toolExecutions: [{}, null], parentToolCallId: undefined },
		];
		const tool = anyTool("careless", (_, { onSubagentEvent }) => {
			for (const [at, data] of odd.entries()) {
				const end = { type: "subagent_end", subagentId: `s${at}`, subagentType: "x", parentToolCallId: "t" };
				onSubagentEvent({ ...end, success: true, timestamp: 5, ...data });
			}
			onSubagentEvent({ type: "subagent_end", subagentId: "" });
			return "done";
		});
		const { state } = await agent({
			model: scriptedModel([calling("careless", "t"), "done"]),
			tools: [tool],
		}).generate("go", initial);
		const empty = { toolName: "", arguments: {}, result: "" };
		expect(state.subagentTraces).toMatchObject([
			{ endTime: 5, toolExecutions: [{ toolName: "look", arguments: { a: 1 }, result: '{"found":[1]}' }] },
			{ success: false },
			{ error: "no", toolExecutions: [empty, empty], parentToolCallId: "" },
		]);
		expect(AgentState.fromJSON(state.toJSON()).subagentTraces).toEqual(state.subagentTraces);
	});
});

describe("createSubAgentTool", () => {
	test("rejects missing options, and options without an agent", () => {
		const withoutAgent = { name: "explore", description: "Explores.", parameters };
		for (const options of [undefined, withoutAgent, { ...withoutAgent, agent: {} }])
			expect(() => createSubAgentTool(options as never)).toThrow(
				expect.objectContaining({ code: "invalid_option" }),
			);
	});

	test("requires a name, a description and parameters, returns the text, and needs no listener [UAP-093]", async () => {
		const child = agent({ model: scriptedModel(["found", "found"]) });
		for (const option of ["name", "description", "parameters"]) {
			for (const missing of [{ [option]: undefined }, { [option]: "" }]) {
				expect(() => explore(child, missing as never)).toThrow(new RegExp(`needs .*\`${option}\``));
			}
		}
		const tool = explore(child);
		expect(tool).toMatchObject({ name: "explore", description: "Explores.", parameters });
		expect(await tool.run({ task: "look" })).toBe("found");
		const emitted: string[] = [];
		const onSubagentEvent = (event: unknown) => void emitted.push((event as SubagentEvent).type);
		expect(await tool.run({ task: "look" }, { onSubagentEvent })).toBe("found");
		expect([emitted[0], new Set(emitted.slice(1, -1)), emitted.at(-1)]).toEqual([
			"subagent_start",
			new Set(["subagent_event"]),
			"subagent_end",
		]);
	});

	test("passes the task from the prompt option, or else from prompt, task, query or all parameters", async () => {
		const model = scriptedModel(() => "ok");
		const child = agent({ model });
		const asked = () => (model.requests.at(-1)?.messages[0] as { text?: string } | undefined)?.text;
		for (const [params, text] of [
			[{ prompt: "a", task: "b" }, "a"],
			[{ query: "q" }, "q"],
			[{ depth: 2 }, '{"depth":2}'],
		] as const) {
			await explore(child).run(params);
			expect(asked()).toBe(text);
		}
		await explore(child, { buildPrompt: ({ task }) => `Do: ${task}` }).run({ task: "x" });
		expect(asked()).toBe("Do: x");
		const failing = explore(child, {
			buildPrompt: () => {
				throw new Error("no task");
			},
		});
		await expect(failing.run({})).rejects.toThrow("no task");
	});

	test("runs an agent without a model on its caller's model, and an agent with a model on its own [UAP-079]", async () => {
		const bare = agent({ system: "Helper.", params: { seed: 1 } });
		const own = scriptedModel(["by its own"]);
		const whole = agent({ model: own });
		const tools = [explore(bare, { name: "bare" }), explore(whole, { name: "whole" })];
		for (const name of ["one", "two"]) {
			const model = scriptedModel([calling("bare", "t"), `by ${name}`, "done"]);
			const { turn } = await agent({ model, tools, config: { baseUrl: name } }).generate("go", initial);
			expect(turn.toolExecutions[0]?.result).toBe(`by ${name}`);
			expect(model.requests[1]).toMatchObject({
				system: "Helper.",
				config: { baseUrl: name },
				params: { seed: 1 },
			});
		}
		const model = scriptedModel([calling("whole", "t"), "done"]);
		const { turn } = await agent({ model, tools }).generate("go", initial);
		expect(turn.toolExecutions[0]?.result).toBe("by its own");
		expect(own.requests).toHaveLength(1);
	});
});

describe("limits and stop conditions", () => {
	test("of a parent end only the parent, and a sub-agent has its own [UAP-148]", async () => {
		const asked: string[] = [];
		const child = agent({
			model: scriptedModel(() => ({ text: "more", toolCalls: [{ name: "look" }] })),
			tools: [anyTool("look", () => "seen")],
			strategy: {
				stopCondition: (state) => {
					asked.push(`child ${state.step}`);
					return state.step === 4;
				},
			},
		});
		const parent = agent({
			model: scriptedModel(() => calling("explore", "t")),
			tools: [explore(child)],
			execution: loop({ maxIterations: 5 }),
			toolStrategy: { maxIterations: 2 },
			strategy: {
				stopCondition: (state) => {
					asked.push(`parent ${state.step}`);
					return true;
				},
			},
		});
		const { state } = await parent.generate("go", initial);
		expect(asked).toEqual(["child 1", "child 2", "child 3", "child 4", "parent 1"]);
		expect(state.subagentTraces?.[0]?.toolExecutions).toHaveLength(4);
	});
});

describe("a sub-agent's events in its parent's stream", () => {
	test("start before its first model call and end with it, all under one id [UAP-087]", async () => {
		const order: string[] = [];
		const child = agent({
			model: scriptedModel(() => {
				order.push("model");
				return "found it";
			}),
		});
		const tool = explore(child, { subagentType: "explorer" });
		const listening = anyTool("explore", (params, context) => {
			const onSubagentEvent = (event: unknown): void => {
				order.push((event as SubagentEvent).type);
				context.onSubagentEvent(event);
			};
			return tool.run(params, { ...context, onSubagentEvent });
		});
		const parent = agent({ model: scriptedModel([calling("explore", "t"), "done"]), tools: [listening] });
		const events = await collect(parent.stream("go", initial));
		expect(order[0]).toBe("subagent_start");
		expect(order.indexOf("model")).toBeGreaterThan(0);
		expect(order.at(-1)).toBe("subagent_end");
		const emitted = kinds(events).filter((kind) => kind.startsWith("subagent"));
		expect(emitted).toEqual(order.filter((kind) => kind !== "model"));
		expect(emitted.filter((kind) => kind !== "subagent_event")).toEqual(["subagent_start", "subagent_end"]);
		const all = ["subagent_start", "subagent_event", "subagent_end"] as const;
		const identities = all.flatMap((type) => dataOf(events, type) as Data[]);
		const subagentId = identities[0]?.subagentId;
		expect(subagentId).toMatch(uuid4);
		for (const data of identities) {
			expect(data).toMatchObject({ subagentId, subagentType: "explorer", parentToolCallId: "t" });
		}
	});

	test("name the call that created it, even if two calls of one tool run in parallel [UAP-088]", async () => {
		const both = Promise.withResolvers<void>();
		let asked = 0;
		const child = agent({
			model: scriptedModel((request) => {
				if (++asked === 2) both.resolve();
				return { gate: both.promise, text: `re: ${(request.messages[0] as { text?: string }).text}` };
			}),
		});
		const parent = parentOf(child, [calling("explore", "a", "b"), "done"]);
		const stream = parent.stream("go", initial);
		const events = await collect(stream);
		const starts = dataOf(events, "subagent_start") as Data[];
		expect(starts.map(({ parentToolCallId, prompt }) => [parentToolCallId, prompt])).toEqual([
			["a", "a"],
			["b", "b"],
		]);
		expect(new Set(starts.map(({ subagentId }) => subagentId)).size).toBe(2);
		for (const { subagentId, parentToolCallId, prompt } of starts) {
			const own = (dataOf(events, "subagent_event") as Data[]).filter(
				(data) => data.subagentId === subagentId,
			);
			expect(new Set(own.map((data) => data.parentToolCallId))).toEqual(new Set([parentToolCallId]));
			const text = own.map(({ innerEvent }) => innerEvent.upp?.delta.text ?? "").join("");
			expect(text).toBe(`re: ${prompt}`);
			const [end] = (dataOf(events, "subagent_end") as Data[]).filter(
				(data) => data.subagentId === subagentId,
			);
			expect(end).toMatchObject({ parentToolCallId, result: `re: ${prompt}` });
		}
		const { turn, state } = await stream.result;
		expect(turn.toolExecutions.map(({ toolCallId, result }) => [toolCallId, result])).toEqual([
			["a", "re: a"],
			["b", "re: b"],
		]);
		expect(state.subagentTraces?.map((trace) => trace.parentToolCallId).sort()).toEqual(["a", "b"]);
	});

	test("contain the task, the outcome, the tools, the tokens and the times in whole milliseconds [UAP-089]", async () => {
		const child = agent({
			model: scriptedModel([{ toolCalls: [{ name: "look", arguments: { in: "src" } }] }, "found"]),
			tools: [anyTool("look", () => ({ files: 2 }))],
		});
		const before = Date.now();
		const events = await collect(parentOf(child).stream("go", initial));
		const [start] = dataOf(events, "subagent_start") as [Data];
		const [end] = dataOf(events, "subagent_end") as [Data];
		expect(start).toMatchObject({ prompt: "t", timestamp: expect.any(Number) });
		expect(end).toMatchObject({
			success: true,
			result: "found",
			toolExecutions: [
				{ toolName: "look", arguments: { in: "src" }, result: '{"files":2}', duration: expect.any(Number) },
			],
			usage: { inputTokens: 20, outputTokens: 10, totalTokens: 30 },
		});
		const times = [before, start.timestamp, end.timestamp, Date.now()] as number[];
		expect(times).toEqual([...times].sort((a, b) => a - b));
		expect(times.every(Number.isInteger)).toBe(true);
	});

	test("report its failure and the reason, and the parent's model gets an error result [UAP-090]", async () => {
		const error = new UPPError("the quota is used up", "QUOTA_EXCEEDED", "maker", "llm");
		const child = agent({ model: scriptedModel([{ error }]) });
		const model = scriptedModel([calling("explore", "t"), "done without it"]);
		const stream = agent({ model, tools: [explore(child)] }).stream("go", initial);
		const events = await collect(stream);
		const ends = dataOf(events, "subagent_end");
		expect(ends).toMatchObject([{ success: false, error: "the quota is used up" }]);
		expect(ends[0]).not.toHaveProperty("result");
		expect(shownResults(model.requests[1]?.messages ?? [])).toEqual([
			// The provider's message is for the operator: the parent's model and all readers get ours.
			{ toolCallId: "t", result: "The model cannot be used at the moment.", isError: true },
		]);
		expect((await stream.result).turn.response.text).toBe("done without it");
	});

	test("contain its own events unchanged, and those of its sub-agents one level deeper [UAP-091]", async () => {
		const family = () => {
			const grandchild = agent({
				model: scriptedModel([{ text: "deep down", toolCalls: [{ name: "look" }] }, "found"]),
				tools: [anyTool("look", () => "seen")],
			});
			const child = agent({
				model: scriptedModel([calling("explore", "u"), "passed on"]),
				tools: [explore(grandchild)],
			});
			return { child, grandchild };
		};
		const events = await collect(parentOf(family().child).stream("go", initial));
		const forwarded = (dataOf(events, "subagent_event") as Data[]).map(({ innerEvent }) => innerEvent);
		expect(kinds(forwarded)).toEqual(kinds(await collect(family().child.stream("t", initial))));
		const deeper = (dataOf(forwarded, "subagent_event") as Data[]).map(({ innerEvent }) => innerEvent);
		const alone = await collect(family().grandchild.stream("u", initial));
		expect(kinds(deeper)).toEqual(kinds(alone));
		const plain = (list: readonly AgentStreamEvent[]) => list.flatMap(({ upp }) => (upp ? [upp] : []));
		expect(plain(deeper)).toEqual(plain(alone));
		for (const kind of ["upp:text_delta", "upp:tool_execution_start", "upp:tool_execution_end", "step_end"]) {
			expect(kinds(deeper)).toContain(kind);
		}
		expect(new Set(events.map((event) => innermost(event).depth))).toEqual(new Set([0, 1, 2]));
	});

	test("can be read while a model two levels down is pending, before any tool has returned [UAP-092]", async () => {
		const gate = Promise.withResolvers<void>();
		const grandchild = agent({ model: scriptedModel([{ gate: gate.promise, text: "found" }]) });
		const child = agent({
			model: scriptedModel([calling("explore", "u"), "ok"]),
			tools: [explore(grandchild)],
		});
		const stream = parentOf(child).stream("go", initial);
		const events = stream[Symbol.asyncIterator]();
		const first = await until(events, ({ uap }) => uap?.type === "subagent_event");
		expect(first.uap?.data).toMatchObject({ parentToolCallId: "t" });
		const deep = await until(events, (event) => innermost(event).depth === 2);
		expect(innermost(deep).event.uap).toMatchObject({ type: "step_start", agentId: grandchild.id });
		let ended = false;
		void stream.result.then(() => {
			ended = true;
		});
		await new Promise((resolve) => setImmediate(resolve));
		expect(ended).toBe(false);
		gate.resolve();
		expect((await stream.result).turn.response.text).toBe("done");
	});
});

describe("cancelling a parent", () => {
	test.each([1, 2])(
		"reaches the model %i level(s) down, and the result settles [UAP-094]",
		async (levels) => {
			const { model, asked } = deafModel();
			let child = agent({ model });
			if (levels === 2) {
				child = agent({ model: scriptedModel([calling("explore", "u")]), tools: [explore(child)] });
			}
			const stream = parentOf(child).stream("go", initial);
			const { signal } = await asked;
			expect(signal?.aborted).toBe(false);
			stream.abort();
			await expect(stream.result).rejects.toMatchObject({ code: "CANCELLED" });
			expect(signal?.aborted).toBe(true);
			await collect(stream);
		},
	);

	test("through the signal of generate does the same, and starts no second round", async () => {
		const { model, asked } = deafModel();
		const controller = new AbortController();
		const parent = scriptedModel([calling("explore", "t"), "never"]);
		const result = agent({ model: parent, tools: [explore(agent({ model }))] }).generate("go", initial, {
			signal: controller.signal,
		});
		const { signal } = await asked;
		controller.abort();
		await expect(result).rejects.toMatchObject({ code: "CANCELLED" });
		expect(signal?.aborted).toBe(true);
		expect(parent.requests).toHaveLength(1);
	});
});

describe("traces", () => {
	const steps = [{ id: "a", description: "Do it." }];
	const round: ScriptedReply = {
		toolCalls: [
			{ name: "explore", id: "good", arguments: { task: "look" } },
			{ name: "fail", id: "bad", arguments: { task: "break" } },
		],
	};
	const custom: ExecutionStrategy = {
		name: "custom",
		async execute({ llm, input, state }) {
			const turn = await llm.generate(state.messages, input);
			return { turn, state: state.withMessages(turn.messages).withStep(1) };
		},
		stream: (context) => ({
			result: custom.execute(context),
			abort() {},
			async *[Symbol.asyncIterator]() {},
		}),
	};
	const strategies: Record<string, [ExecutionStrategy, (string | ScriptedReply)[]]> = {
		loop: [loop(), [round, "done"]],
		react: [react(), ["I look.", round, "I am done.", "done"]],
		plan: [plan(), [{ data: { steps }, text: JSON.stringify({ steps }) }, round, "done"]],
		custom: [custom, [round, "done"]],
	};

	for (const [name, [execution, script]] of Object.entries(strategies)) {
		test.each(["generate", "stream"] as const)(
			`of a sub-agent, once each, are in the state after ${name} with %s [UAP-095]`,
			async (method) => {
				const good = agent({ model: scriptedModel(["found"]) });
				const bad = agent({ model: scriptedModel([{ error: new Error("broke") }]) });
				const tools = [explore(good), explore(bad, { name: "fail", subagentType: "breaker" })];
				const parent = agent({ model: scriptedModel(script), tools, execution });
				const before = Date.now();
				const { state } =
					method === "generate"
						? await parent.generate("go", initial)
						: await parent.stream("go", initial).result;
				const traces = [...(state.subagentTraces ?? [])];
				expect(traces).toHaveLength(2);
				const [explored, broken] = traces.sort((a, b) => (a.success ? -1 : b.success ? 1 : 0));
				expect(explored).toMatchObject({
					subagentType: "explore",
					parentToolCallId: "good",
					prompt: "look",
					success: true,
					result: "found",
				});
				expect(broken).toMatchObject({
					subagentType: "breaker",
					parentToolCallId: "bad",
					prompt: "break",
					success: false,
					error: "broke",
				});
				for (const { subagentId, startTime, endTime } of traces) {
					expect(subagentId).toMatch(uuid4);
					expect([startTime >= before, endTime >= startTime]).toEqual([true, true]);
				}
			},
		);
	}

	test("contain all tools of a sub-agent with their results as text, and its tokens, even if it fails [UAP-096]", async () => {
		const look = anyTool("look", ({ at }) => {
			if (at === 2) throw new Error("too dark");
			return { seen: at };
		});
		const script = (last: string | ScriptedReply): (string | ScriptedReply)[] => [
			{ toolCalls: [1, 2].map((at) => ({ name: "look", id: `l${at}`, arguments: { at } })) },
			{ toolCalls: [{ name: "look", id: "l3", arguments: { at: 3 } }] },
			last,
		];
		const duration = expect.any(Number);
		const executions = [
			{
				toolName: "look",
				toolCallId: "l1",
				arguments: { at: 1 },
				result: '{"seen":1}',
				isError: false,
				duration,
			},
			{
				toolName: "look",
				toolCallId: "l2",
				arguments: { at: 2 },
				result: "too dark",
				isError: true,
				duration,
			},
			{
				toolName: "look",
				toolCallId: "l3",
				arguments: { at: 3 },
				result: '{"seen":3}',
				isError: false,
				duration,
			},
		];
		for (const [last, tokens] of [
			["found", 45],
			[{ error: new Error("broke") }, 30],
		] as const) {
			const child = agent({ model: scriptedModel(script(last)), tools: [look] });
			const { state } = await parentOf(child).generate("go", initial);
			expect(state.subagentTraces).toMatchObject([{ usage: { totalTokens: tokens } }]);
			expect(state.subagentTraces?.[0]?.toolExecutions).toEqual(executions);
		}
	});

	test("are in each checkpoint after their call, and are equal after a restore [UAP-097]", async () => {
		const saved: AgentStateJSON[] = [];
		const unused = async () => null;
		const checkpoints = {
			save: async (_: string, state: AgentStateJSON) => void saved.push(JSON.parse(JSON.stringify(state))),
			load: unused,
			delete: async () => {},
			list: async () => [],
		};
		const child = agent({ model: scriptedModel(["one", "two"]) });
		const model = scriptedModel([calling("explore", "a"), calling("explore", "b"), "done"]);
		const parent = agent({ model, tools: [explore(child)], checkpoints });
		const { state } = await parent.generate("go", initial);
		await parent.flush();
		const traces = state.subagentTraces as readonly SubagentExecutionTrace[];
		expect(traces.map(({ result }) => result)).toEqual(["one", "two"]);
		expect(saved.map((json) => AgentState.fromJSON(json).subagentTraces)).toEqual([
			traces.slice(0, 1),
			traces,
			traces,
		]);
		expect(saved[2]?.subagentTraces?.[0]?.startTime).toBe(new Date(traces[0]?.startTime ?? 0).toISOString());
	});

	test("report that a sub-agent was interrupted if the surrounding run fails", async () => {
		const { model, asked } = deafModel();
		const quick = agent({ model: scriptedModel(["quick"]) });
		const tools = [
			explore(agent({ model })),
			explore(quick, { name: "quick" }),
			anyTool("last", async () => void (await asked), { dependsOn: ["quick"] }),
		];
		const round: ScriptedReply = {
			toolCalls: ["explore", "quick", "last"].map((name) => ({ name, id: name, arguments: { task: name } })),
		};
		const seen: AgentState[] = [];
		const failing = agent({
			model: scriptedModel([round]),
			tools,
			toolStrategy: {
				onAfterCall({ name }) {
					if (name === "last") throw new Error("the hook failed");
				},
			},
			strategy: { onError: (_, state) => void seen.push(state) },
		});
		await expect(failing.generate("go", initial)).rejects.toThrow("the hook failed");
		expect(seen[0]?.subagentTraces).toMatchObject([
			{ parentToolCallId: "quick", success: true },
			{ parentToolCallId: "explore", success: false, error: expect.stringContaining("cancelled") },
		]);
		expect((await asked).signal?.aborted).toBe(true);
	});

	test("and the end of one sub-agent are available while another call of the round continues", async () => {
		const { promise, resolve } = Promise.withResolvers<string>();
		const child = agent({ model: scriptedModel(["quick"]) });
		const round: ScriptedReply = {
			toolCalls: [...(calling("explore", "q").toolCalls ?? []), { name: "slow" }],
		};
		const tools = [explore(child), anyTool("slow", () => promise)];
		const stream = agent({ model: scriptedModel([round, "done"]), tools }).stream("go", initial);
		await until(stream[Symbol.asyncIterator](), ({ uap }) => uap?.type === "subagent_end");
		resolve("late");
		expect((await stream.result).state.subagentTraces).toHaveLength(1);
	});
});
