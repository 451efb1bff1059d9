// Custom strategies with their own execute and stream: what they receive, and how they run.

import { scriptedModel } from "@holdfast/testing";
import { isUserMessage, UserMessage } from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import type { AgentStreamEvent } from "../engine/uap-events.ts";
import { memoryHost } from "../host/memory-host.ts";
import { AgentState } from "../state/agent-state.ts";
import type { ExecutionContext, ExecutionStrategy } from "../strategies/execution-strategy.ts";
import { react } from "../strategies/react.ts";
import { anyTool, collect, deafModel, lines } from "./agent.fixture.ts";
import { agent } from "./agent.ts";
import { AgentSessions } from "./agent-sessions.ts";
import { once } from "./opaque-strategy.fixture.ts";

const initial = AgentState.initial();
const echo = anyTool("echo", () => "echoed");

describe("a custom strategy", () => {
	test("gets agent, llm, input, state, tools, strategy and, for streams, a signal [UAP-027]", async () => {
		const seen: ExecutionContext[] = [];
		const spy = once({
			execute(context) {
				seen.push(context);
				return once().execute(context);
			},
			stream(context) {
				seen.push(context);
				return once().stream(context);
			},
		});
		const strategy = { onReason() {} };
		const one = agent({ model: scriptedModel(["a", "b", "c"]), tools: [echo], execution: spy, strategy });
		const state = initial.withMetadata("k", 1);
		const message = new UserMessage("as a message");
		await one.generate("text", state);
		await one.generate(message, state);
		await one.stream("streamed", state).result;
		const [text, given, streamed] = seen as [ExecutionContext, ExecutionContext, ExecutionContext];
		expect(isUserMessage(text.input) && text.input.text).toBe("text");
		expect(given.input).toBe(message);
		expect(streamed.signal).toBeInstanceOf(AbortSignal);
		for (const context of seen) {
			expect(context.agent).toBe(one);
			expect(context.state).toBe(state);
			expect(context.tools).toEqual([echo]);
			expect(context.strategy.onReason).toBeTypeOf("function");
			expect(typeof context.llm.generate + typeof context.llm.stream).toBe("functionfunction");
		}
	});

	test("gets hooks as an object, even if the agent has none [UAP-028]", async () => {
		const one = agent({ model: scriptedModel(["hello"]), execution: once() });
		const { state } = await one.generate("go", initial);
		expect(state.step).toBe(1);
	});

	test("runs unchanged: its turn and state are the call's, and stream() is its own stream [UAP-053]", async () => {
		let given: Awaited<ReturnType<ExecutionStrategy["execute"]>> | undefined;
		const event: AgentStreamEvent = {
			source: "uap",
			uap: { type: "action", step: 7, agentId: "mine", data: {} },
		};
		const own = once({
			async execute(context) {
				given = await once().execute(context);
				return given;
			},
			stream: (context) => ({
				result: own.execute(context),
				abort() {},
				async *[Symbol.asyncIterator]() {
					yield event;
				},
			}),
		});
		const one = agent({ model: scriptedModel(["a", "b", "c", "d"]), execution: own });
		const generated = await one.generate("go", initial);
		expect(generated.turn).toBe(given?.turn);
		expect(generated.state).toBe(given?.state);
		expect((await one.ask("go", initial)).turn).toBe(given?.turn);
		expect(await one.query("go")).toBe(given?.turn);
		const stream = one.stream("go", initial);
		expect(await collect(stream)).toEqual([event]);
		expect((await stream.result).state).toBe(given?.state);
	});

	test("with its own `execute` next to a decision is only driven through `execute` [UAP-053]", async () => {
		const log: string[] = [];
		const base = react();
		const logged: ExecutionStrategy = {
			...base,
			async execute(context) {
				log.push("before");
				const result = await base.execute(context);
				log.push("after");
				return result;
			},
		};
		const one = agent({ model: scriptedModel(["hm", "done"]), execution: logged });
		expect((await one.generate("go", initial)).state.reasoning).toEqual(["hm"]);
		expect(log).toEqual(["before", "after"]);
	});

	test("without a stream also works in stream()", async () => {
		const { stream: _, ...half } = once();
		const one = agent({ model: scriptedModel(["hello"]), execution: half as ExecutionStrategy });
		const stream = one.stream("go", initial);
		expect(await collect(stream)).toEqual([]);
		expect((await stream.result).turn.response.text).toBe("hello");
	});

	test("that returns no turn and state is reported as an error", async () => {
		const one = agent({ model: scriptedModel([]), execution: once({ execute: async () => ({}) as never }) });
		await expect(one.generate("go", initial)).rejects.toMatchObject({ code: "invalid_strategy" });
	});
});

describe("a custom strategy that is cancelled", () => {
	test.each(["generate", "stream"] as const)("rejects at once in %s, and its signal aborts", async (way) => {
		const { model } = deafModel();
		let signal: AbortSignal | undefined;
		const begun = Promise.withResolvers<void>();
		const deaf = once({
			execute(context) {
				signal = context.signal;
				begun.resolve();
				return once().execute(context);
			},
			stream: (context) => ({
				result: deaf.execute(context),
				abort() {},
				async *[Symbol.asyncIterator]() {
					await new Promise(() => {});
				},
			}),
		});
		const one = agent({ model, execution: deaf });
		const controller = new AbortController();
		const options = { signal: controller.signal };
		const running =
			way === "generate" ? one.generate("go", initial, options) : one.stream("go", initial, options).result;
		running.catch(() => {});
		await begun.promise;
		controller.abort();
		await expect(running).rejects.toMatchObject({ code: "CANCELLED" });
		expect(signal?.aborted).toBe(true);
	});
});

test("an agent spread with another strategy keeps all other options and has a new id [UAP-006]", async () => {
	const log: string[] = [];
	const model = scriptedModel(["hm", "done"]);
	const coder = agent({
		model,
		tools: [echo],
		system: "You code.",
		params: { temperature: 0 },
		config: { apiKey: "k" },
		middleware: [{ name: "m", before: async () => void log.push("middleware") }],
		strategy: { onReason: () => void log.push("reason") },
	});
	const careful = agent({ ...coder, execution: react() });
	const { state } = await careful.generate("go", initial);
	expect(state.reasoning).toEqual(["hm"]);
	expect(log).toEqual(["middleware", "reason"]);
	for (const request of model.requests) {
		expect(request).toMatchObject({
			system: "You code.",
			params: { temperature: 0 },
			config: { apiKey: "k" },
		});
		expect(request.tools?.map((tool) => tool.name)).toEqual(["echo"]);
	}
	expect(careful.id).not.toBe(coder.id);
	expect(careful.tools[0]).toBe(echo);
	expect(lines(state.messages)).toEqual(["user: go", "assistant: hm", "assistant: done"]);
});

test("every method of a session rejects it, and no other strategy replaces it", async () => {
	const host = memoryHost();
	const model = scriptedModel(["never"]);
	const left = agent({ model: scriptedModel([{ text: "", gate: new Promise(() => {}) }]), host });
	const run = await left.session("s").send("go");
	run.suspend();
	await run.result();
	const one = agent({ model, host, execution: once() });
	const refused = expect.objectContaining({ code: "strategy_not_durable" });
	expect(() => one.session("s")).toThrow(refused);
	await expect(collect(one.recover())).rejects.toEqual(refused);
	await expect(collect(one.work({ until: "done" }))).rejects.toEqual(refused);
	await expect(one.supervise()).rejects.toEqual(refused);
	expect(() => new AgentSessions("id", { model, host, execution: once() }).session("s")).toThrow(refused);
	expect(model.requests).toEqual([]);
	await left.close();
});

test("an invalid strategy is rejected with a reason", () => {
	for (const execution of [react, "react", null, {}, { name: "x" }, { name: "x", decide: 1 }]) {
		expect(() => agent({ model: scriptedModel([]), execution: execution as never })).toThrow(
			expect.objectContaining({ code: "invalid_strategy" }),
		);
	}
});
