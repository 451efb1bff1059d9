// What an agent adds around a custom strategy: middleware, hooks, checkpoints, traces of sub-agents.

import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import type { Middleware, MiddlewareContext } from "../policy/middleware/middleware-face.ts";
import { AgentState } from "../state/agent-state.ts";
import type { GenerateResult } from "../state/generate-result.ts";
import { loop } from "../strategies/loop.ts";
import { plan } from "../strategies/plan.ts";
import { react } from "../strategies/react.ts";
import { anyTool, collect, dataOf } from "./agent.fixture.ts";
import { agent } from "./agent.ts";
import { createSubAgentTool } from "./create-sub-agent-tool.ts";
import { memoryStore, once } from "./opaque-strategy.fixture.ts";

const initial = AgentState.initial();
const echo = anyTool("echo", () => "echoed");
const call = { toolCalls: [{ name: "echo" }] };

describe("a custom strategy", () => {
	test("runs within the middleware, and completes or fails once", async () => {
		const log: string[] = [];
		const middleware: Middleware[] = [
			{
				name: "m",
				before: async () => void log.push("before"),
				async after(_: MiddlewareContext, result: GenerateResult) {
					log.push("after");
					return result;
				},
			},
		];
		const strategy = { onComplete: () => void log.push("complete"), onError: () => void log.push("error") };
		await agent({ model: scriptedModel(["a"]), execution: once(), middleware, strategy }).generate(
			"go",
			initial,
		);
		expect(log).toEqual(["before", "after", "complete"]);
		log.length = 0;
		const reporting = once({
			async execute(context) {
				const result = await once().execute(context);
				context.strategy.onComplete?.(result);
				return result;
			},
		});
		await agent({ model: scriptedModel(["a"]), execution: reporting, strategy }).generate("go", initial);
		expect(log).toEqual(["complete"]);
		log.length = 0;
		const failing = agent({ model: scriptedModel([]), execution: once(), strategy });
		await expect(failing.generate("go", initial)).rejects.toMatchObject({ code: "INVALID_REQUEST" });
		expect(log).toEqual(["error"]);
	});

	test("gets the result of onError, with the state of its last step", async () => {
		const rescue = {
			turn: (await agent({ model: scriptedModel(["x"]) }).generate("x")).turn,
			state: initial,
		};
		const steps: number[] = [];
		const failing = once({
			async execute(context) {
				await once().execute(context);
				throw new Error("after step 1");
			},
		});
		const strategy = {
			onError(_: unknown, state: AgentState) {
				steps.push(state.step);
				return rescue;
			},
		};
		const one = agent({ model: scriptedModel(["a"]), execution: failing, strategy });
		expect(await one.generate("go", initial)).toBe(rescue);
		expect(steps).toEqual([1]);
	});

	test("calls hooks of a class as methods of their object", async () => {
		class Hooks {
			#steps: number[] = [];
			onStepStart(step: number) {
				this.#steps.push(step);
			}
			onComplete() {
				this.#steps.push(99);
			}
			get steps() {
				return this.#steps;
			}
		}
		for (const execution of [once(), once({ execute: (context) => react().execute(context) })]) {
			const hooks = new Hooks();
			await agent({ model: scriptedModel(["a", "b"]), execution, strategy: hooks }).generate("go", initial);
			expect(hooks.steps).toEqual([1, 99]);
		}
	});

	test("is stopped by middleware through stopCondition", async () => {
		const asked: number[] = [];
		const middleware: Middleware[] = [
			{
				name: "limit",
				stop: (_: MiddlewareContext, state: AgentState) => {
					asked.push(state.step);
					return state.step >= 2;
				},
			},
		];
		const execution = once({ execute: (context) => loop().execute(context) });
		const one = agent({
			model: scriptedModel(() => call),
			tools: [echo],
			execution,
			middleware,
		});
		expect((await one.generate("go", initial)).state.step).toBe(2);
		expect(asked).toEqual([1, 2]);
	});
});

describe("checkpoints of a custom strategy", () => {
	test.each([
		["loop", loop(), ["a"]],
		["react", react(), ["hm", "a"]],
		["plan", plan(), [JSON.stringify([{ id: "a", description: "" }]), "a"]],
		["custom", once(), ["a"]],
	] as const)(
		"%s: the state names the session in generate, ask and stream [UAP-013]",
		async (_, execution, script) => {
			for (const way of ["generate", "ask", "stream"] as const) {
				const checkpoints = memoryStore();
				const one = agent({ model: scriptedModel(script), execution, checkpoints, sessionId: "mine" });
				const { state } = await (way === "stream"
					? one.stream("go", initial).result
					: one[way]("go", initial));
				expect(state.metadata.sessionId).toBe("mine");
				await one.flush();
				expect(checkpoints.saved.map(({ metadata }) => metadata.sessionId)).toEqual(["mine"]);
				const generated = agent({ model: scriptedModel(script), execution, checkpoints: memoryStore() });
				const found =
					way === "stream"
						? await generated.stream("go", initial).result
						: await generated[way]("go", initial);
				expect(found.state.metadata.sessionId).toMatch(/^[0-9a-f-]{36}$/);
			}
		},
	);

	test("are saved at each onStepEnd, and at the end if it reports no step", async () => {
		const checkpoints = memoryStore();
		const three = once({
			async execute(context) {
				let result = await once().execute(context);
				for (const step of [2, 3]) {
					result = { ...result, state: result.state.withStep(step) };
					context.strategy.onStepEnd?.(step, result);
				}
				return result;
			},
		});
		const one = agent({ model: scriptedModel(["a"]), execution: three, checkpoints });
		await one.generate("go", initial);
		await one.flush();
		expect(checkpoints.saved.map(({ step }) => step)).toEqual([1, 2, 3]);
		const silent = once({
			async execute({ llm, input, state }) {
				const turn = await llm.generate([], input);
				return { turn, state: state.withMessages([...turn.messages]).withStep(9) };
			},
		});
		const other = agent({ model: scriptedModel(["a"]), execution: silent, checkpoints });
		await other.generate("go", initial);
		await other.flush();
		expect(checkpoints.saved.map(({ step }) => step)).toEqual([1, 2, 3, 9]);
	});
});

describe("sub-agents of a custom strategy", () => {
	const scout = createSubAgentTool({
		agent: agent({ model: scriptedModel(() => "found it") }),
		name: "scout",
		description: "Scouts.",
		parameters: { type: "object" },
	});
	const script = () =>
		scriptedModel([{ toolCalls: [{ name: "scout", arguments: { query: "where?" } }] }, "there"]);

	test.each([
		["the llm's own loop", once()],
		["a strategy it calls", once({ execute: (context) => loop().execute(context) })],
	])("leave one trace each in the state and its checkpoints, run by %s", async (_, execution) => {
		const checkpoints = memoryStore();
		const one = agent({ model: script(), tools: [scout], execution, checkpoints });
		const { state } = await one.generate("go", initial);
		await one.flush();
		expect(state.subagentTraces).toMatchObject([
			{ subagentType: "scout", success: true, result: "found it" },
		]);
		expect(checkpoints.saved.at(-1)?.subagentTraces).toHaveLength(1);
	});

	test("are emitted live with the step that runs them, regardless of what runs the tools", async () => {
		const streaming = once({
			stream(context) {
				context.strategy.onStepStart?.(3, context.state);
				return {
					result: once({}).execute({ ...context, strategy: {} }),
					abort() {},
					async *[Symbol.asyncIterator]() {},
				};
			},
		});
		const one = agent({ model: script(), tools: [scout], execution: streaming });
		const events = await collect(one.stream("go", initial));
		expect(dataOf(events, "subagent_end")).toMatchObject([{ subagentType: "scout", success: true }]);
		const steps = events.flatMap((event) => (event.source === "uap" ? [event.uap.step] : []));
		expect(new Set(steps)).toEqual(new Set([3]));
	});

	test("get their caller's context, and the caller's tools are unchanged [UAP-081]", async () => {
		const seen: unknown[] = [];
		const look = Object.freeze(
			anyTool("look", (_, context) => void seen.push([context.agentId, context.parentModel])),
		);
		const looking = () => scriptedModel([{ toolCalls: [{ name: "look" }] }, "done"]);
		const strategies = [loop(), once(), once({ execute: (context) => loop().execute(context) })];
		const all = strategies.map((execution) => agent({ model: looking(), tools: [look], execution }));
		await Promise.all(all.map((each) => each.generate("go", initial)));
		for (const each of all) {
			expect(each.tools[0]).toBe(look);
			expect(seen).toContainEqual([each.id, each.model]);
		}
		expect(seen).toHaveLength(3);
	});
});
