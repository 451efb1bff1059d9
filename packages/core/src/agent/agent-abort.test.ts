import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { atRest } from "../engine/engine.fixture.ts";
import type { AgentStrategy } from "../engine/engine-agent.ts";
import { AgentState } from "../state/agent-state.ts";
import { anyTool, collect, deafModel, kinds, lines, modelOf } from "./agent.fixture.ts";
import { agent } from "./agent.ts";
import type { AgentOptions } from "./options.ts";

const initial = AgentState.initial();
const script: readonly (string | ScriptedReply)[] = [
	{
		reasoning: "hm",
		text: "Let me see.",
		toolCalls: [{ name: "echo" }, { name: "fails" }, { name: "echo" }],
	},
	{ toolCalls: [{ name: "slow" }, { name: "echo", after: ["call_1_0"] }] },
	"All done.",
];

test.each([[{ signal: 5 }], [{ signal: {} }], [null]])(
	"rejects invalid options of a call (%j) before the call starts",
	async (options) => {
		const model = scriptedModel(["never"]);
		const one = agent({ model });
		await expect(one.generate("go", initial, options as never)).rejects.toThrow(TypeError);
		await expect(one.query("go", options as never)).rejects.toThrow(TypeError);
		expect(() => one.stream("go", initial, options as never)).toThrow(TypeError);
		expect(model.requests).toEqual([]);
	},
);

/** An agent that logs everything it starts. */
function traced(log: string[], signals: AbortSignal[] = []) {
	const tool = (name: string, run: () => unknown) =>
		anyTool(name, (_, { signal }) => {
			log.push(`run ${name}`);
			signals.push(signal);
			return run();
		});
	return agent({
		model: scriptedModel((request, call) => {
			log.push("model");
			if (request.signal !== undefined) signals.push(request.signal);
			return script[call] as ScriptedReply;
		}),
		tools: [
			tool("echo", () => "e"),
			tool("fails", () => Promise.reject(new Error("no"))),
			tool("slow", () => new Promise((resolve) => setImmediate(resolve, "slow"))),
		],
		strategy: {
			onStepStart: (step) => void log.push(`step ${step}`),
			onAct: () => void log.push("act"),
			onComplete: () => void log.push("complete"),
		},
	});
}

describe("aborting a stream at each of its events", () => {
	test("ends the iteration, rejects as cancelled, and starts nothing else [UAP-120]", async () => {
		const whole = await collect(traced([]).stream("go", initial));
		for (let at = 0; at < whole.length; at++) {
			const log: string[] = [];
			const signals: AbortSignal[] = [];
			const stream = traced(log, signals).stream("go", initial);
			let seen = 0;
			let then: readonly string[] = [];
			for await (const _ of stream) {
				if (seen++ !== at) continue;
				stream.abort();
				then = [...log];
			}
			await expect(stream.result).rejects.toMatchObject({ code: "CANCELLED" });
			await atRest();
			expect(log).toEqual(then);
			expect(signals.every((signal) => signal.aborted)).toBe(true);
		}
		expect(whole.length).toBeGreaterThan(20);
	});
});

describe("work that ignores an abort does not delay it", () => {
	const never = (): Promise<never> => new Promise(() => {});
	const hooks = [
		"onStepStart",
		"onAct",
		"onObserve",
		"onStepEnd",
		"stopCondition",
		"onComplete",
		"onError",
	] as const;
	const toolHooks = ["onToolCall", "onBeforeCall", "onAfterCall", "onError", "onMaxIterations"] as const;
	const cases: [string, (asked: () => Promise<never>) => AgentOptions][] = [
		...hooks.map((hook): (typeof cases)[number] => [
			`strategy.${hook}`,
			(asked) => ({
				strategy: { [hook]: asked } as AgentStrategy,
				...(hook === "onError" ? { model: scriptedModel([{ error: new Error("down") }]) } : {}),
			}),
		]),
		...toolHooks.map((hook): (typeof cases)[number] => [
			`toolStrategy.${hook}`,
			(asked) => ({
				toolStrategy: { [hook]: asked, ...(hook === "onMaxIterations" ? { maxIterations: 1 } : {}) },
			}),
		]),
		["a tool", (asked) => ({ tools: [anyTool("echo", asked), anyTool("fails", asked)] })],
		["an approval", (asked) => ({ tools: [anyTool("echo", () => "e", { approval: asked })] })],
		[
			"a streaming tool",
			(asked) => ({
				tools: [
					anyTool("echo", async function* () {
						yield await asked();
					}),
				],
			}),
		],
		["a model that completes", (asked) => ({ model: modelOf({ complete: asked }) })],
		[
			"a model's response after its stream",
			(asked) => ({
				model: modelOf({ stream: () => ({ response: asked(), async *[Symbol.asyncIterator]() {} }) }),
			}),
		],
	];

	test.each(cases)("%s that never settles [UAP-119]", async (_, options) => {
		const asked = Promise.withResolvers<void>();
		const hang = (): Promise<never> => {
			asked.resolve();
			return never();
		};
		const tools = [anyTool("echo", () => "e"), anyTool("fails", () => Promise.reject(new Error("no")))];
		const calls = [{ name: "echo" }, { name: "fails" }];
		const model = scriptedModel([{ toolCalls: calls }, { toolCalls: calls }, "Done."]);
		const stream = agent({ model, tools, ...options(hang) }).stream("go", initial);
		const read = collect(stream);
		await asked.promise;
		stream.abort();
		await expect(stream.result).rejects.toMatchObject({ code: "CANCELLED" });
		await read;
	});
});

describe("the signal of a call", () => {
	test("already aborted: calls no hooks, model or tools", async () => {
		const log: string[] = [];
		for (const call of ["generate", "ask"] as const) {
			const running = traced(log)[call]("go", initial, { signal: AbortSignal.abort() });
			await expect(running).rejects.toMatchObject({ code: "CANCELLED" });
		}
		await expect(traced(log).query("go", { signal: AbortSignal.abort() })).rejects.toMatchObject({
			code: "CANCELLED",
		});
		const stream = traced(log).stream("go", initial, { signal: AbortSignal.abort() });
		expect(kinds(await collect(stream))).toEqual([]);
		await expect(stream.result).rejects.toMatchObject({ code: "CANCELLED" });
		expect(log).toEqual([]);
	});

	test("aborted later: the model is notified and the call rejects; aborting after the end has no effect", async () => {
		const controller = new AbortController();
		const { model, asked } = deafModel();
		const running = agent({ model }).generate("go", initial, { signal: controller.signal });
		const request = await asked;
		controller.abort();
		await expect(running).rejects.toMatchObject({ code: "CANCELLED" });
		expect(request.signal?.aborted).toBe(true);
		const late = new AbortController();
		const kept: AbortSignal[] = [];
		await traced([], kept).generate("go", initial, { signal: late.signal });
		late.abort();
		expect(kept.some((signal) => signal.aborted)).toBe(false);
	});

	test("a model's stream can clean up", async () => {
		const cleaned = Promise.withResolvers<string>();
		const model = modelOf({
			stream: ({ signal }) => ({
				response: new Promise(() => {}),
				async *[Symbol.asyncIterator]() {
					try {
						yield { type: "text_delta", index: 0, delta: { text: "a" } };
						await new Promise((resolve) => signal?.addEventListener("abort", resolve));
						yield { type: "text_delta", index: 0, delta: { text: "b" } };
					} finally {
						cleaned.resolve("cleaned");
					}
				},
			}),
		});
		const stream = agent({ model }).stream("go", initial);
		const read: string[] = [];
		for await (const event of stream) {
			read.push(...kinds([event]));
			if (read.at(-1) === "upp:text_delta") stream.abort();
		}
		expect(await cleaned.promise).toBe("cleaned");
		expect(read).toEqual(["step_start", "upp:text_delta"]);
	});
});

test("hooks are called as methods of the object that contains them", async () => {
	class Counting {
		count = 0;
		onStepStart(): void {
			this.count++;
		}
		onAct(): void {
			this.count++;
		}
		onObserve(): void {
			this.count++;
		}
		onStepEnd(): void {
			this.count++;
		}
		stopCondition(): boolean {
			this.count++;
			return false;
		}
		onComplete(): void {
			this.count++;
		}
	}
	class CountingTools {
		count = 0;
		onToolCall(): void {
			this.count++;
		}
		onBeforeCall(): boolean {
			this.count++;
			return true;
		}
		onAfterCall(): void {
			this.count++;
		}
		onError(): void {
			this.count++;
		}
	}
	const strategy = new Counting();
	const toolStrategy = new CountingTools();
	const tools = [anyTool("echo", () => "e"), anyTool("fails", () => Promise.reject(new Error("no")))];
	const model = scriptedModel([{ toolCalls: [{ name: "echo" }, { name: "fails" }] }, "Done."]);
	const { state } = await agent({ model, tools, strategy, toolStrategy }).generate("go", initial);
	expect(lines(state.messages).at(-1)).toBe("assistant: Done.");
	expect([strategy.count, toolStrategy.count]).toEqual([9, 6]);
});
