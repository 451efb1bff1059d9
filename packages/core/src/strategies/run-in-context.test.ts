// Strategies called by other strategies, with any LLMInstance in their context.

import { scriptedModel } from "@holdfast/testing";
import {
	AssistantMessage,
	createTurn,
	type LLMInstance,
	llm,
	type Message,
	type Tool,
	ToolResultMessage,
	UserMessage,
} from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import { anyTool, collect, kinds, lines } from "../agent/agent.fixture.ts";
import { agent } from "../agent/agent.ts";
import { AgentState } from "../state/agent-state.ts";
import type { ExecutionContext, ExecutionStrategy } from "./execution-strategy.ts";
import { loop } from "./loop.ts";
import { planOf, statuses } from "./plan.fixture.ts";
import { plan } from "./plan.ts";
import { react } from "./react.ts";

const initial = AgentState.initial();
const call = { text: "Acting.", toolCalls: [{ name: "echo" }] };
const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
const echoOf = (log: unknown[] = []): Tool => {
	const run = (): string => {
		log.push("echo");
		return "echoed";
	};
	return anyTool("echo", run) as Tool;
};

function contextOf(instance: LLMInstance, extra: Partial<ExecutionContext> = {}): ExecutionContext {
	const input = new UserMessage("go");
	return {
		agent: { id: "a", tools: [] },
		llm: instance,
		input,
		state: initial,
		tools: [],
		strategy: {},
		...extra,
	};
}

/** A hand-written instance: it has `generate`, and anything else only if given. */
function byHand(
	answer: (messages: readonly Message[], number: number) => readonly Message[],
	more: Partial<LLMInstance> = {},
): LLMInstance {
	let number = 0;
	const generate: LLMInstance["generate"] = async (history, ...inputs) => {
		const given = [...(history as readonly Message[]), ...(inputs as Message[])];
		const produced = answer(given, number++);
		const toolExecutions = produced.flatMap((message) =>
			message instanceof ToolResultMessage
				? message.results.map((each) => ({
						...each,
						toolName: "own",
						arguments: {},
						isError: false,
						duration: 1,
					}))
				: [],
		);
		return createTurn({
			messages: [...(inputs as Message[]), ...produced],
			toolExecutions,
			usage,
			cycles: 1,
		});
	};
	return { generate, ...more } as LLMInstance;
}

/** A custom strategy that delegates everything to another. */
const through = (inner: ExecutionStrategy): ExecutionStrategy => ({
	name: "through",
	execute: (context) => inner.execute(context),
	stream: (context) => inner.stream(context),
});

const scripts = {
	loop: { inner: loop(), script: [call, "done"] },
	react: { inner: react(), script: ["hm", call, "hm", "done"] },
	plan: { inner: plan(), script: [planOf({ id: "a" }, { id: "b" }), call, "a", "b"] },
};

describe.each(Object.entries(scripts))("%s called by a custom strategy", (_, { inner, script }) => {
	const make = (execution: ExecutionStrategy, log: unknown[]) =>
		agent({
			model: scriptedModel(script),
			tools: [echoOf(log)],
			system: "S",
			execution,
			toolStrategy: { onToolCall: (tool) => void log.push(["asked", tool.name]) },
			strategy: {
				onStepStart: (step) => void log.push(["start", step]),
				onAct: (step) => void log.push(["act", step]),
				onObserve: (step) => void log.push(["observe", step]),
				onStepEnd: (step, { state }) => void log.push(["end", step, lines(state.messages)]),
				stopCondition: ({ step }) => void log.push(["stop?", step]) === undefined && step === 9,
				onComplete: () => void log.push("complete"),
			},
		});

	test("works as it does by itself, with hooks, tool hooks and events [UAP-126]", async () => {
		const own: unknown[] = [];
		const alone = await make(inner, own).generate("go", initial);
		const logs: unknown[][] = [[], [], []];
		const generated = await make(through(inner), logs[0] as unknown[]).generate("go", initial);
		const stream = make(through(inner), logs[1] as unknown[]).stream("go", initial);
		const events = kinds(await collect(stream));
		expect(events).toEqual(kinds(await collect(make(inner, logs[2] as unknown[]).stream("go", initial))));
		for (const { turn, state } of [generated, await stream.result]) {
			expect(lines(turn.messages)).toEqual(lines(alone.turn.messages));
			expect(state.reasoning).toEqual(alone.state.reasoning);
			expect(state.plan).toEqual(alone.state.plan);
			expect(turn.usage.totalTokens).toBe(alone.turn.usage.totalTokens);
		}
		expect(own).toContainEqual(["asked", "echo"]);
		for (const log of logs) expect(log).toEqual(own);
	});
});

describe("with an instance of llm() that has tools", () => {
	test("react() reasons without running them, and acts step by step [UAP-036]", async () => {
		const log: unknown[] = [];
		const model = scriptedModel([call, call, "hm", "done"]);
		const instance = llm({ model, tools: [echoOf(log)], system: "S", params: { temperature: 0 } });
		const strategy = { onReason: () => void log.push("reason"), onAct: () => void log.push("act") };
		const { state } = await react().execute(contextOf(instance, { strategy }));
		expect(log).toEqual(["reason", "act", "echo", "reason"]);
		expect(state.step).toBe(2);
		for (const request of model.requests)
			expect(request).toMatchObject({ system: "S", params: { temperature: 0 } });
	});

	test("the tools of the context come before its own", async () => {
		const log: unknown[] = [];
		const instance = llm({ model: scriptedModel([call, "done"]), tools: [echoOf(log)] });
		const other = anyTool("echo", () => void log.push("other")) as Tool;
		await loop().execute(contextOf(instance, { tools: [other] }));
		expect(log).toEqual(["other"]);
	});

	test("its tool hooks and its own signal still apply", async () => {
		const controller = new AbortController();
		const asked: string[] = [];
		const options = {
			model: scriptedModel([call, { text: "late", gate: new Promise(() => {}) }]),
			tools: [anyTool("echo", () => queueMicrotask(() => controller.abort())) as Tool],
			toolStrategy: { onToolCall: (tool: Tool) => void asked.push(tool.name) },
			signal: controller.signal,
		};
		await expect(loop().execute(contextOf(llm(options)))).rejects.toBeDefined();
		expect(asked).toEqual(["echo"]);
	});
});

describe("with a handwritten instance", () => {
	test.each(["execute", "stream"] as const)(
		"that only generates, %s works in every strategy",
		async (way) => {
			const says = (...texts: string[]) =>
				byHand((_, number) => [new AssistantMessage(texts[number] ?? "more")]);
			const run = async (strategy: ExecutionStrategy, instance: LLMInstance) =>
				way === "execute"
					? strategy.execute(contextOf(instance))
					: strategy.stream(contextOf(instance)).result;
			expect((await run(loop(), says("done"))).turn.response.text).toBe("done");
			expect((await run(react(), says("hm", "done"))).state.reasoning).toEqual(["hm"]);
			const planned = await run(plan(), says(planOf({ id: "a" }).text as string, "a is done"));
			expect(statuses(planned.state.plan)).toEqual(["a: completed"]);
		},
	);

	test("gets the schema of a plan as text, which is not recorded", async () => {
		const seen: string[][] = [];
		const instance = byHand((messages, number) => {
			seen.push(lines(messages));
			return [new AssistantMessage(number === 0 ? (planOf({ id: "a" }).text as string) : "ok")];
		});
		const { state } = await plan().execute(contextOf(instance));
		expect(seen[0]?.at(-1)).toMatch(/^user: Answer with JSON of this schema.*"dependsOn"/);
		expect(lines(state.messages).filter((line) => line.startsWith("user"))).toEqual(["user: go"]);
	});

	test("that requests tools has those of the context run", async () => {
		const log: unknown[] = [];
		const calls = [{ toolCallId: "1", toolName: "echo", arguments: {} }];
		const instance = byHand((_, number) => [
			number === 0 ? new AssistantMessage("", calls) : new AssistantMessage("done"),
		]);
		const { turn } = await loop().execute(contextOf(instance, { tools: [echoOf(log)] }));
		expect(log).toEqual(["echo"]);
		expect(turn.toolExecutions).toMatchObject([{ toolName: "echo", result: "echoed" }]);
	});

	const own = [{ toolCallId: "own-1", toolName: "own", arguments: { q: 1 } }];
	const ran = new ToolResultMessage([{ toolCallId: "own-1", result: "found" }]);

	test("that runs tools itself has its rounds in the history, reported to hooks, and not run again", async () => {
		const log: unknown[] = [];
		const instance = byHand(() => [
			new AssistantMessage("Looking.", own),
			ran,
			new AssistantMessage("It is there."),
		]);
		const strategy = {
			onAct: (step: number) => void log.push(["act", step]),
			onObserve: (step: number, seen: readonly { result: unknown }[]) =>
				void log.push(["observe", step, seen[0]?.result]),
		};
		const tools = [anyTool("own", () => void log.push("again")) as Tool];
		const { turn, state } = await loop().execute(contextOf(instance, { strategy, tools }));
		expect(log).toEqual([
			["act", 1],
			["observe", 1, "found"],
		]);
		expect(lines(state.messages)).toEqual([
			"user: go",
			"assistant: Looking. [own]",
			"results: found",
			"assistant: It is there.",
		]);
		expect(turn.response.text).toBe("It is there.");
	});

	test("that has run the calls of its answer is called again with their results", async () => {
		const log: unknown[] = [];
		const instance = byHand((_, number) =>
			number === 0 ? [new AssistantMessage("Looking.", own), ran] : [new AssistantMessage("It is there.")],
		);
		const strategy = {
			onAct: (step: number) => void log.push(["act", step]),
			onObserve: (step: number) => void log.push(["observe", step]),
			onStepEnd: (step: number) => void log.push(["end", step]),
		};
		const tools = [anyTool("own", () => void log.push("again")) as Tool];
		const { state } = await loop().execute(contextOf(instance, { strategy, tools }));
		expect(log).toEqual([
			["act", 1],
			["observe", 1],
			["end", 1],
			["end", 2],
		]);
		expect(lines(state.messages).at(-2)).toBe("results: found");
	});

	test("is notified to abort, and one that never answers does not delay a cancel", async () => {
		let aborted = 0;
		const never = new Promise<never>(() => {});
		const asked = Promise.withResolvers<void>();
		const stream = (): never => {
			asked.resolve();
			return {
				turn: never,
				abort: () => aborted++,
				[Symbol.asyncIterator]: () => ({ next: () => never }),
			} as never;
		};
		const running = loop().stream(contextOf(byHand(() => [], { stream })));
		await asked.promise;
		running.abort();
		await expect(running.result).rejects.toMatchObject({ code: "CANCELLED" });
		expect(await collect(running)).toBeDefined();
		expect(aborted).toBe(1);
		const controller = new AbortController();
		controller.abort();
		const deaf = byHand(() => [], { generate: () => never });
		await expect(react().execute(contextOf(deaf, { signal: controller.signal }))).rejects.toMatchObject({
			code: "CANCELLED",
		});
	});
});
