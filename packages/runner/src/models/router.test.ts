// Providers: who gets a call, and what becomes of one that fails.

import { scriptedModel } from "@holdfast/testing";
import { agent } from "holdfast";
import { describe, expect, test, vi } from "vitest";
import { configured, use } from "../agent/agent.fixture.ts";
import { RunnerAgent } from "../agent/index.ts";
import type {
	AgentConfig,
	LLMClient,
	ModelProvider,
	ModelRequest,
	RunnerEvent,
	RunnerStep,
} from "../contract/index.ts";
import { stubClient } from "../harness/index.ts";
import { modelPlanner } from "../loop/index.ts";
import { memoryPromptStore } from "../prompts/index.ts";

const finish = JSON.stringify({ type: "finish", message: "done" });
const retriable = (code = "BUSY") => Object.assign(new Error(`failed: ${code}`), { code, retriable: true });

interface Spied extends LLMClient {
	readonly calls: unknown[];
}

/** A client that answers, or throws what it is given. */
function client(
	answer: string | Error | (() => Promise<never>) = finish,
	more: Partial<LLMClient> = {},
): Spied {
	const calls: unknown[] = [];
	return {
		calls,
		async call(prompt) {
			calls.push(prompt);
			if (typeof answer === "function") return answer();
			if (answer instanceof Error) throw answer;
			return { text: answer };
		},
		...more,
	};
}

/** An agent whose planner makes one call of this kind, and finishes with what it gave. */
function asking(
	providers: AgentConfig["modelProviders"],
	request: Partial<ModelRequest> = {},
	more: Partial<AgentConfig> = {},
) {
	const planner: AgentConfig["planner"] = {
		async plan(_, context) {
			const { text } = await context.callModel({
				messages: [{ role: "user", content: "hello" }],
				...request,
			});
			return { type: "finish", message: text };
		},
	};
	return new RunnerAgent(configured([], { planner, modelProviders: providers, ...more })).runOnce();
}

const provider = (id: string, more: Partial<ModelProvider> = {}): ModelProvider & { client: Spied } =>
	({
		id,
		client: client(id),
		...more,
	}) as ModelProvider & { client: Spied };

describe("selection", () => {
	test("is by descending priority, ties in the given order [RUN-049]", async () => {
		const providers = [
			provider("a"),
			provider("b", { priority: 2 }),
			provider("c", { priority: 2 }),
			provider("d", { priority: -1 }),
		];
		expect((await asking(providers)).result).toBe("b");
		expect(providers.map(({ client }) => client.calls.length)).toEqual([0, 1, 0, 0]);
		const failing = providers.map((each) => ({ ...each, client: client(retriable()) }));
		expect((await asking(failing)).modelCalls?.map(({ provider: id }) => id)).toEqual(["b", "c", "a", "d"]);
	});

	test("skips clients that do not advertise the model, or the modality [RUN-050]", async () => {
		const text = provider("text", { models: ["small"], priority: 9 });
		const image = provider("image", { models: ["big"], modalities: ["text", "image"] });
		expect((await asking([text, image], { model: "big" })).result).toBe("image");
		const content = [{ type: "image" as const, data: "AA==", mediaType: "image/png" }];
		const messages = [{ role: "user" as const, content }];
		expect((await asking([text, image], { messages })).result).toBe("image");
		expect((await asking([text, image], { modality: "image" })).result).toBe("image");
		expect(text.client.calls).toEqual([]);
	});

	test("skips clients with too few tokens, too high a cost, or no information; an exact match is accepted [RUN-051]", async () => {
		const price = { input: 1, output: 2 };
		const cases: [Partial<ModelProvider>, Partial<ModelRequest>, boolean][] = [
			[{ maxTokens: 100 }, { maxTokens: 100 }, true],
			[{ maxTokens: 99 }, { maxTokens: 100 }, false],
			[{}, { maxTokens: 100 }, false],
			[{ price, maxTokens: 100 }, { maxTokens: 100, costCeiling: (2 * 1 + 100 * 2) / 1e6 }, true],
			[{ price, maxTokens: 100 }, { maxTokens: 100, costCeiling: (2 * 1 + 100 * 2) / 1e6 - 1e-9 }, false],
			[{ maxTokens: 100 }, { maxTokens: 100, costCeiling: 1 }, false],
		];
		for (const [more, request, qualifies] of cases) {
			const one = provider("one", { priority: 1, ...more });
			const other = provider("other", { maxTokens: 1e6, price: { input: 0, output: 0 } });
			expect((await asking([one, other], request)).result).toBe(qualifies ? "one" : "other");
		}
	});

	test("without a candidate fails with what each lacks, and calls none [RUN-052]", async () => {
		const providers = [
			provider("a", { models: ["x"] }),
			provider("b", { models: ["y"], maxTokens: 1 }),
			provider("c"),
		];
		const result = await asking(providers, { model: "y", maxTokens: 2 });
		expect(result.error).toMatchObject({
			code: "NO_PROVIDER",
			info: {
				providers: [
					{ id: "a", unmet: "model" },
					{ id: "b", unmet: "maxTokens" },
					{ id: "c", unmet: "model" },
				],
			},
		});
		expect(providers.flatMap(({ client }) => client.calls)).toEqual([]);
		expect(result.modelCalls).toEqual([]);
	});

	test("by a score selects the highest among the capable, ties by priority; NaN and -Infinity exclude [RUN-053]", async () => {
		const providers = ["a", "b", "c", "d"].map((id) => provider(id, { priority: id === "c" ? 1 : 0 }));
		const by = async (scores: Record<string, number>) =>
			(
				await asking(
					providers,
					{ purpose: "p" },
					{ score: ({ id }, { purpose }) => (purpose === "p" ? scores[id] : undefined) ?? 0 },
				)
			).result;
		expect(await by({ a: 1, b: 2, c: 1 })).toBe("b");
		expect(await by({ a: 1, b: 1, c: 1, d: 1 })).toBe("c");
		expect(await by({ a: Number.NaN, b: Number.NaN, c: Number.NEGATIVE_INFINITY, d: -5 })).toBe("d");
		const nobody = await asking(providers, {}, { score: ({ id }) => (id === "a" ? Number.NaN : -1 / 0) });
		expect(nobody.error).toMatchObject({
			code: "NO_PROVIDER",
			info: { providers: ["a", "b", "c", "d"].map((id) => ({ id, unmet: "score" })) },
		});
		const incapable = [provider("a", { models: ["x"] }), provider("b")];
		const result = await asking(incapable, { model: "z" }, { score: () => 1 });
		expect(result.error?.code).toBe("NO_PROVIDER");
	});
});

describe("a plain client", () => {
	test("is asked once for its capabilities, and lacks those it does not report [RUN-054]", async () => {
		const getModelInfo = vi.fn(async () => ({ name: "mine", maxTokens: 50 }));
		const bare = client("bare", { getModelInfo });
		const planner: AgentConfig["planner"] = {
			async plan(_, { callModel }) {
				const messages = [{ role: "user" as const, content: "x" }];
				await callModel({ messages, model: "mine", maxTokens: 50 });
				await callModel({ messages, model: "mine" });
				return { type: "finish", message: "ok" };
			},
		};
		const result = await new RunnerAgent(configured([], { planner, modelProviders: [bare] })).runOnce();
		expect(result.success).toBe(true);
		expect(result.modelCalls?.map(({ model }) => model)).toEqual(["mine", "mine"]);
		expect(getModelInfo).toHaveBeenCalledTimes(1);
		for (const request of [
			{ maxTokens: 51 },
			{ model: "other" },
			{ modality: "image" as const },
			{ costCeiling: 1 },
		])
			expect((await asking([bare], request)).error?.code).toBe("NO_PROVIDER");
		for (const request of [{ maxTokens: 1 }, { model: "mine" }])
			expect((await asking([client("silent")], request)).error?.code).toBe("NO_PROVIDER");
	});

	test("that does not stream is called for the whole text, which is emitted once [RUN-059] [RUN-054]", async () => {
		const stream = vi.fn();
		const tokens: string[] = [];
		const onModelTokens = (text: string) => void tokens.push(text);
		const getModelInfo = async () => ({ name: "m", supportsStreaming: false });
		await asking([client("whole", { stream, getModelInfo })], {}, { onModelTokens });
		await asking([client("alone")], {}, { onModelTokens });
		expect(tokens).toEqual(["whole", "alone"]);
		expect(stream).not.toHaveBeenCalled();
	});

	test("that streams is emitted piece by piece, in whole words, and the pieces are the text [RUN-059]", async () => {
		const tokens: string[] = [];
		const stub = stubClient([["on", "e ", "piece"]]);
		const result = await asking([stub], {}, { onModelTokens: (text) => void tokens.push(text) });
		expect(tokens.splice(0)).toEqual(["one ", "piece"]);
		expect(result.result).toBe("one piece");
		let early: readonly string[] = [];
		const streaming: LLMClient = {
			call: () => Promise.reject(new Error("not asked")),
			async *stream() {
				yield { text: "one " };
				early = [...tokens];
				yield { text: "piece" };
			},
		};
		await asking([streaming], {}, { onModelTokens: (text) => void tokens.push(text) });
		expect(early).toEqual(["one "]);
	});

	test("and a Holdfast model can be in one list", async () => {
		const model = scriptedModel(["from the model"]);
		const result = await asking([client(retriable()), model]);
		expect(result.result).toBe("from the model");
		expect(result.modelCalls?.[1]).toMatchObject({ outcome: "ok", inputTokens: expect.any(Number) });
		expect(agent({ model }).id).toBeDefined();
	});

	test.each([
		[null],
		[3],
		[{ id: "x", client: 5 }],
		[{ id: "", client: client() }],
		[{ id: "x", client: client(), priority: Number.NaN }],
	])("that is invalid is rejected with its path: %j", (given) => {
		expect(() => new RunnerAgent(configured([], { modelProviders: [given as never] }))).toThrow(
			expect.objectContaining({
				code: "CONFIG_INVALID",
				message: expect.stringContaining("modelProviders[0]"),
			}),
		);
	});
});

describe("failover", () => {
	test("continues with the next capable provider after a temporary failure; if all fail each is named [RUN-055] [RUN-030]", async () => {
		const [first, second, third] = [
			provider("a", { client: client(retriable("A")) }),
			provider("b"),
			provider("c"),
		];
		const result = await asking([first, second, third]);
		expect(result.result).toBe("b");
		expect(third.client.calls).toEqual([]);
		expect(result.retryInfo).toEqual({ attempts: 1, lastError: "failed: A" });
		const failing = [
			provider("a", { client: client(retriable("A")) }),
			provider("b", { client: client(retriable("B")) }),
		];
		expect((await asking(failing)).error).toMatchObject({
			code: "MODEL_FAILED",
			message: "Every provider failed. a: failed: A; b: failed: B",
			info: {
				providers: [
					{ id: "a", code: "A", message: "failed: A" },
					{ id: "b", code: "B" },
				],
			},
		});
	});

	test("does not happen after a permanent failure [RUN-055] [RUN-063]", async () => {
		const other = provider("other");
		const result = await asking([
			provider("a", {
				client: client(Object.assign(new Error("no key"), { code: "AUTHENTICATION_FAILED" })),
			}),
			other,
		]);
		expect(result.error).toMatchObject({ code: "AUTHENTICATION_FAILED", message: "no key" });
		expect(other.client.calls).toEqual([]);
	});

	test("waits before the next call of a provider that requests it, 30 seconds at most [RUN-063]", async () => {
		for (const [retryAfterMs, wait] of [
			[5_000, 5_000],
			[90_000, 30_000],
		]) {
			const waits: number[] = [];
			const after = (milliseconds: number, wake: () => void) => {
				waits.push(milliseconds);
				const timer = setImmediate(wake);
				return () => clearImmediate(timer);
			};
			const planner: AgentConfig["planner"] = {
				async plan(_, { callModel }) {
					const messages = [{ role: "user" as const, content: "x" }];
					await callModel({ messages }).catch(() => {});
					return { type: "finish", message: (await callModel({ messages })).text };
				},
			};
			const busy = stubClient([Object.assign(retriable(), { retryAfterMs }), "there"]);
			const ports = { timers: { after }, clock: { now: () => 1_000, monotonic: () => 0 } };
			const config = configured([], { planner, modelProviders: [busy], ports });
			expect((await new RunnerAgent(config).runOnce()).result).toBe("there");
			expect(waits).toContain(wait);
		}
	});

	test("cancels a call that is too slow; without another provider the run ends with MODEL_TIMEOUT [RUN-056]", async () => {
		const signals: AbortSignal[] = [];
		const slow: LLMClient = {
			call: (_, options) => {
				if (options?.signal !== undefined) signals.push(options.signal);
				return new Promise(() => {});
			},
		};
		const alone = await asking([slow], {}, { modelTimeoutMs: 20 });
		expect(alone.error?.code).toBe("MODEL_TIMEOUT");
		expect(signals[0]?.aborted).toBe(true);
		expect((await asking([slow, client("quick")], {}, { modelTimeoutMs: 20 })).result).toBe("quick");
	});

	test("a stream that fails midway leaves no text, and is recorded as failed [RUN-057] [RUN-023]", async () => {
		const broken: LLMClient = {
			call: () => Promise.reject(new Error("not asked")),
			async *stream() {
				yield { text: "half of a secret plan" };
				throw retriable("CUT");
			},
		};
		const planner: AgentConfig["planner"] = {
			async plan({ step, transcript }, { callModel }): Promise<RunnerStep> {
				if (step === 2) return { type: "finish", input: transcript };
				const { text } = await callModel({ messages: [{ role: "user", content: "x" }] });
				return { type: "message", message: text };
			},
		};
		const result = await new RunnerAgent(
			configured([], { planner, modelProviders: [broken, client("whole")] }),
		).runOnce();
		expect(result.result).toEqual([{ role: "assistant", content: "whole" }]);
		expect(result.modelCalls).toMatchObject([
			{ provider: "provider-1", outcome: "failed", error: { code: "CUT" } },
			{ provider: "provider-2", outcome: "ok" },
		]);
	});

	test("an abort cancels the request, and emits no later tokens [RUN-009]", async () => {
		const events: RunnerEvent[] = [];
		const begun = Promise.withResolvers<AbortSignal | undefined>();
		const after = Promise.withResolvers<void>();
		const streaming: LLMClient = {
			call: () => Promise.reject(new Error("not asked")),
			async *stream(_, options) {
				yield { text: "early " };
				begun.resolve(options?.signal);
				await after.promise;
				yield { text: "late words " };
			},
		};
		const config = configured([], {
			planner: {
				plan: (_, { callModel }) =>
					callModel({ messages: [{ role: "user", content: "x" }] }).then(() => ({ type: "finish" })),
			},
			modelProviders: [streaming],
			eventBus: { emit: (event) => void events.push(event) },
		});
		const session = new RunnerAgent(config).createSession();
		const running = session.run();
		const signal = await begun.promise;
		session.abort();
		expect((await running).aborted).toBe(true);
		expect(signal?.aborted).toBe(true);
		after.resolve();
		await new Promise((resolve) => setImmediate(resolve));
		expect(JSON.stringify(events)).toContain("early");
		expect(JSON.stringify(events)).not.toContain("late");
	});

	test.each([[{ text: 5 }], [null], [{}]])("a client that returns %j is rejected", async (answer) => {
		const wrong: LLMClient = { call: async () => answer as never };
		expect((await asking([wrong])).error?.code).toBe("MODEL_RESPONSE_INVALID");
	});
});

describe("the usage of a run", () => {
	test("has tokens of each call and their sum, estimated if a client reports none [RUN-023] [RUN-024]", async () => {
		const usage = { inputTokens: 10, outputTokens: 4 };
		const counted = await asking([stubClient(["x"], { usage })]);
		expect(counted.modelCalls?.[0]).toMatchObject({
			...usage,
			provider: "provider-1",
			model: "stub",
			promptRef: "call",
			outcome: "ok",
		});
		expect(counted.modelCalls?.[0]?.duration).toBeGreaterThanOrEqual(0);
		expect(counted.tokenUsage).toEqual({ ...usage, totalTokens: 14 });
		const guessed = await asking([stubClient(["12345678"])]);
		expect(guessed.tokenUsage).toEqual({ inputTokens: 2, outputTokens: 2, totalTokens: 4, estimated: true });
	});

	test("sums tokens over all calls, and is estimated if any of them is [RUN-024]", async () => {
		const message = { role: "user", content: "12345678" } as const;
		const planner: AgentConfig["planner"] = {
			async plan(_, { callModel }) {
				for (const model of ["counts", "guesses", "counts"]) await callModel({ messages: [message], model });
				return { type: "finish" };
			},
		};
		const counts = client(() => Promise.reject(), {
			call: async () => ({ text: "x", usage: { inputTokens: 10, outputTokens: 4 } }),
		});
		const modelProviders = [
			{ id: "one", models: ["counts"], client: counts },
			{ id: "two", models: ["guesses"], client: client("1234") },
		];
		const { tokenUsage } = await new RunnerAgent(configured([], { planner, modelProviders })).runOnce();
		expect(tokenUsage).toEqual({ inputTokens: 22, outputTokens: 9, totalTokens: 31, estimated: true });
	});

	test("has a cost only if every called provider has a price [RUN-025]", async () => {
		const usage = { inputTokens: 1_000_000, outputTokens: 500_000 };
		const price = { input: 3, output: 8 };
		const priced = { id: "priced", client: stubClient(["x"], { usage }), price };
		expect((await asking([priced])).costEstimate).toBe(7);
		const twice: AgentConfig["planner"] = {
			async plan(_, { callModel }) {
				for (const content of ["one", "two"]) await callModel({ messages: [{ role: "user", content }] });
				return { type: "finish" };
			},
		};
		const both = { ...priced, client: stubClient(["x", "y"], { usage }) };
		expect((await asking([both], {}, { planner: twice })).costEstimate).toBe(14);
		expect(await asking([{ id: "free", client: stubClient(["x"], { usage }) }])).not.toHaveProperty(
			"costEstimate",
		);
		const failing = { id: "failing", client: client(retriable()), priority: 1 };
		expect(await asking([failing, { ...priced, client: stubClient(["x"], { usage }) }])).not.toHaveProperty(
			"costEstimate",
		);
		const after = { ...priced, client: stubClient(["x"], { usage }) };
		expect((await asking([{ ...failing, price }, after])).costEstimate).toBe(7);
	});

	test("has the calls of planner and reflector, and their rendered templates [RUN-023] [RUN-028]", async () => {
		const promptStore = memoryPromptStore();
		for (const text of ["Plan {{task}}", "Now plan: {{task}}"]) await promptStore.put({ id: "plan", text });
		for (const id of ["look", "unused"]) await promptStore.put({ id, text: "Look." });
		const reflector: AgentConfig["reflector"] = {
			async reflect(_state, _result, { callModel, renderPrompt }) {
				const { text, version } = await renderPrompt("look");
				await callModel({ messages: [{ role: "user", content: text }], promptRef: { id: "look", version } });
				return {};
			},
		};
		const planner = modelPlanner({ promptTemplate: "plan" });
		const stub = stubClient([use("echo", 1), "seen", finish]);
		const config = configured([], { planner, reflector, promptStore, modelProviders: [stub] });
		const { modelCalls, provenance } = await new RunnerAgent(config).runOnce();
		expect(stub.prompts[0]?.messages[0]).toEqual({ role: "system", content: "Now plan: Do it." });
		expect(modelCalls?.map(({ promptRef }) => promptRef)).toEqual(["plan@2", "look@1", "plan@2"]);
		expect(provenance?.templates).toEqual([
			{ id: "plan", version: "2" },
			{ id: "look", version: "1" },
		]);
	});

	test("names the models that answered [RUN-028]", async () => {
		expect((await asking([stubClient(["x"], { info: { name: "m-1" } })])).provenance).toEqual({
			templates: [],
			models: ["m-1"],
		});
		const answering: LLMClient = {
			call: async () => ({ text: "x", model: "m-2-2026" }),
			getModelInfo: async () => ({ name: "m-2" }),
		};
		expect((await asking([answering])).provenance?.models).toEqual(["m-2-2026"]);
	});
});

test("close cancels active calls, and further calls are rejected [RUN-064]", async () => {
	const { modelClient } = await import("./index.ts");
	const one = modelClient(scriptedModel([{ gate: new Promise(() => {}) }, "x"]));
	const inFlight = one.call("x");
	await one.close?.();
	await one.close?.();
	await expect(inFlight).rejects.toMatchObject({ code: "CLIENT_CLOSED" });
	await expect(one.call("x")).rejects.toMatchObject({ code: "CLIENT_CLOSED" });
	const streaming = async () => {
		for await (const _ of one.stream?.("x") ?? []);
	};
	await expect(streaming()).rejects.toMatchObject({ code: "CLIENT_CLOSED" });
});
