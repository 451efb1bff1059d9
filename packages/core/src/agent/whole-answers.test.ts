// How the model is asked: for whole answers if nothing reads a stream, for streamed ones otherwise.
import { scriptedModel } from "@holdfast/testing";
import {
	AssistantMessage,
	type LLMInstance,
	llm,
	type ModelReference,
	type Provider,
	UserMessage,
} from "@holdfast/upp";
import { describe, expect, test, vi } from "vitest";
import { AgentState } from "../state/agent-state.ts";
import type { ExecutionContext, ExecutionStrategy } from "../strategies/execution-strategy.ts";
import { loop } from "../strategies/loop.ts";
import { planOf } from "../strategies/plan.fixture.ts";
import { plan } from "../strategies/plan.ts";
import { react } from "../strategies/react.ts";
import { anyTool, collect } from "./agent.fixture.ts";
import { agent } from "./agent.ts";
import { createSubAgentTool } from "./create-sub-agent-tool.ts";

const initial = AgentState.initial();
const call = { toolCalls: [{ name: "echo" }] };
const echo = anyTool("echo", () => "echoed");

/** A model that follows a script and records how it is asked. */
function asked(script: Parameters<typeof scriptedModel>[0]): { model: ModelReference; ways: string[] } {
	const inner = scriptedModel(script);
	const ways: string[] = [];
	const handler = inner.provider.modalities.llm as NonNullable<Provider["modalities"]["llm"]>;
	const bind = (modelId: string) => {
		const bound = handler.bind(modelId);
		return {
			...bound,
			complete: (request: Parameters<typeof bound.complete>[0]) => {
				ways.push("complete");
				return bound.complete(request);
			},
			stream: (request: Parameters<typeof bound.stream>[0]) => {
				ways.push("stream");
				return bound.stream(request);
			},
		};
	};
	const provider = Object.assign(() => model, { modalities: { llm: { bind } } }) as unknown as Provider;
	const model: ModelReference = { modelId: "m", provider };
	return { model, ways };
}

const strategies: Record<string, [ExecutionStrategy, () => Parameters<typeof scriptedModel>[0]]> = {
	loop: [loop(), () => [call, "done"]],
	react: [react(), () => ["hm", call, "hm", "done"]],
	plan: [plan(), () => [planOf({ id: "a" }), call, "done"]],
};

describe.each(Object.entries(strategies))("%s()", (_, [execution, script]) => {
	const through: ExecutionStrategy = {
		name: "through",
		execute: (context) => execution.execute(context),
		stream: (context) => execution.stream(context),
	};

	test.each(["generate", "ask", "query"] as const)(
		"%s requests whole answers from a provider",
		async (way) => {
			for (const strategy of [execution, through]) {
				const { model, ways } = asked(script());
				const one = agent({ model, tools: [echo], execution: strategy });
				await (way === "query" ? one.query("go") : one[way]("go", initial));
				expect(ways).toEqual(ways.map(() => "complete"));
				expect(ways.length).toBeGreaterThan(1);
			}
		},
	);

	test("stream requests streaming", async () => {
		for (const strategy of [execution, through]) {
			const { model, ways } = asked(script());
			await collect(agent({ model, tools: [echo], execution: strategy }).stream("go", initial));
			expect(ways).toEqual(ways.map(() => "stream"));
			expect(ways.length).toBeGreaterThan(1);
		}
	});

	test("execute calls the generate of its instance, and stream its stream, even if they are wrapped", async () => {
		for (const way of ["execute", "stream"] as const) {
			for (const wrap of ["a copy", "in place"] as const) {
				const { model, ways } = asked(script());
				const made = llm({ model, tools: [echo as never] });
				const generate = vi.fn(made.generate);
				const stream = vi.fn(made.stream);
				const instance: LLMInstance =
					wrap === "a copy" ? { ...made, generate, stream } : Object.assign(made, { generate, stream });
				const context: ExecutionContext = {
					agent: { id: "a", tools: [] },
					llm: instance,
					input: new UserMessage("go"),
					state: initial,
					tools: [],
					strategy: {},
				};
				const { turn } = await (way === "execute"
					? execution.execute(context)
					: execution.stream(context).result);
				// An instance with tools runs them itself, even while react() makes it reason.
				expect(["hm", "done"]).toContain(turn.response.text);
				const [called, other] = way === "execute" ? [generate, stream] : [stream, generate];
				expect(called).toHaveBeenCalled();
				expect(other).not.toHaveBeenCalled();
				expect(new Set(ways)).toEqual(new Set([way === "execute" ? "complete" : "stream"]));
			}
		}
	});

	test("a custom strategy may wrap its instance", async () => {
		let calls = 0;
		const counting: ExecutionStrategy = {
			...through,
			execute(context) {
				const generate: LLMInstance["generate"] = (...given) => {
					calls++;
					return context.llm.generate(...given);
				};
				return execution.execute({ ...context, llm: { ...context.llm, generate } });
			},
		};
		const { turn } = await agent({
			model: asked(script()).model,
			tools: [echo],
			execution: counting,
		}).generate("go");
		expect(["hm", "done"]).toContain(turn.response.text);
		expect(turn.toolExecutions).toHaveLength(1);
		expect(calls).toBeGreaterThan(0);
	});
});

test("a strategy that is executed directly calls onComplete with its result", async () => {
	const completed: unknown[] = [];
	const context: ExecutionContext = {
		agent: { id: "a", tools: [] },
		llm: llm({ model: scriptedModel(["done", "done"]) }),
		input: new UserMessage("go"),
		state: initial,
		tools: [],
		strategy: { onComplete: (result) => void completed.push(result) },
	};
	const result = await loop().execute(context);
	expect(completed).toEqual([result]);
	const streamed = await loop().stream(context).result;
	expect(completed).toEqual([result, streamed]);
});

test("a turn with executions and without tool messages keeps them, and its history is unchanged", async () => {
	const seen: unknown[] = [];
	const executions = [
		{ toolName: "look", toolCallId: "1", arguments: { at: 1 }, result: "seen", isError: false, duration: 3 },
		{ toolName: "look", toolCallId: "2", arguments: {}, result: "no", isError: true, duration: 4 },
	];
	const response = new AssistantMessage("It is there.");
	const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
	const generate: LLMInstance["generate"] = async (_, ...inputs) => ({
		messages: [...(inputs as UserMessage[]), response],
		response,
		toolExecutions: executions,
		usage,
		cycles: 1,
	});
	for (const execution of [loop(), react()]) {
		const { turn, state } = await execution.execute({
			agent: { id: "a", tools: [] },
			llm: { generate } as LLMInstance,
			input: new UserMessage("go"),
			state: initial,
			tools: [],
			strategy: {
				onAct: (step, calls) => void seen.push([step, calls.map(({ toolCallId }) => toolCallId)]),
				onObserve: (step, results) => void seen.push([step, results.map(({ result }) => result)]),
			},
		});
		expect(turn.toolExecutions.slice(0, 2)).toEqual(executions);
		expect(state.messages.every(({ type }) => type !== "tool_result")).toBe(true);
	}
	expect(seen.slice(0, 2)).toEqual([
		[1, ["1", "2"]],
		[1, ["seen", "no"]],
	]);
});

test("a model that can only stream, or whose endpoint refuses to, is called in the mode it supports", async () => {
	const scripted = scriptedModel(["done", "done"]);
	const bound = (scripted.provider.modalities.llm as { bind(id: string): object }).bind("m");
	const made = (change: object): ModelReference => {
		const bind = () => ({ ...bound, ...change });
		const provider = Object.assign(() => {}, { modalities: { llm: { bind } } }) as unknown as Provider;
		return { modelId: "m", provider };
	};
	const refuse = (): never => {
		throw new Error("Streaming is not allowed here.");
	};
	expect((await agent({ model: made({ complete: undefined }) }).query("go")).response.text).toBe("done");
	expect((await agent({ model: made({ stream: refuse }) }).query("go")).response.text).toBe("done");
});

test("a sub-agent that does not stream emits its start and its end, and requests whole answers", async () => {
	const { model, ways } = asked(["found"]);
	const events: string[] = [];
	const tool = createSubAgentTool({
		agent: agent({ model }),
		name: "explore",
		description: "Explores.",
		parameters: { type: "object" },
		buildPrompt: ({ query }: { query: string }) => `Find: ${query}`,
		subagentType: "explorer",
		stream: false,
	});
	const seen: unknown[] = [];
	const text = await tool.run(
		{ query: "it" },
		{
			toolCallId: "c",
			onSubagentEvent: (event) => {
				const { type, subagentType, parentToolCallId, ...rest } = event as Record<string, unknown>;
				events.push(String(type));
				seen.push([subagentType, parentToolCallId, rest.prompt ?? rest.result]);
			},
		},
	);
	expect([text, events, ways]).toEqual(["found", ["subagent_start", "subagent_end"], ["complete"]]);
	expect(seen).toEqual([
		["explorer", "c", "Find: it"],
		["explorer", "c", "found"],
	]);
});
