// The adapter with simulated models: what every version of the AI SDK receives, and what it may answer.
import { describe, expect, test } from "vitest";
import {
	AssistantMessage,
	messageFromJSON,
	ToolResultMessage,
	type UserContent,
	UserMessage,
} from "../messages/index.ts";
import type { LLMRequest, LLMResponse } from "../model/index.ts";
import { resolveModel } from "../providers/index.ts";
import type { StreamEvent } from "../stream/index.ts";
import type { SpecificationVersion } from "./file-parts.ts";
import type { CallOptions, LanguageModel, StreamPart } from "./language-model-types.ts";

const finishV4 = {
	type: "finish",
	finishReason: { unified: "stop", raw: "stop" },
	usage: {
		inputTokens: { total: 10, noCache: 3, cacheRead: 5, cacheWrite: 2 },
		outputTokens: { total: 4, text: 4, reasoning: 0 },
	},
};

interface Played {
	model: LanguageModel;
	calls: CallOptions[];
}

function play(parts: readonly StreamPart[], specificationVersion: SpecificationVersion = "v4"): Played {
	const calls: CallOptions[] = [];
	const model: LanguageModel = {
		specificationVersion,
		provider: "acme.chat",
		modelId: "m",
		doGenerate: async (options: CallOptions) => {
			calls.push(options);
			const content = parts.filter(({ type }) => type !== "finish");
			return { ...parts.find(({ type }) => type === "finish"), content };
		},
		doStream: async (options: CallOptions) => {
			calls.push(options);
			const stream = new ReadableStream({
				start(controller) {
					for (const part of parts) controller.enqueue(part);
					controller.close();
				},
			});
			return { stream };
		},
	};
	return { model, calls };
}

function bind(model: LanguageModel) {
	const handler = resolveModel(model).provider.modalities.llm;
	if (handler === undefined) throw new Error("no handler");
	return handler.bind(model.modelId);
}

async function ask(played: Played, request: Partial<LLMRequest> = {}): Promise<LLMResponse> {
	return bind(played.model).stream({ messages: [new UserMessage("x")], config: {}, ...request }).response;
}

async function promptFor(
	messages: LLMRequest["messages"],
	version: SpecificationVersion = "v4",
): Promise<any[]> {
	const played = play([version === "v2" ? { type: "finish", finishReason: "stop" } : finishV4], version);
	await ask(played, { messages });
	return played.calls[0]?.prompt ?? [];
}

describe("parameters", () => {
	test("that the AI SDK has are mapped, also under their other names; others go to the provider", async () => {
		const played = play([finishV4]);
		await ask(played, {
			params: {
				temperature: 0.5,
				max_tokens: 100,
				top_p: 0.9,
				stop: "END",
				frequency_penalty: 1,
				seed: undefined,
				logit_bias: { a: 1 },
				providerOptions: { acme: { store: true }, other: { b: 2 } },
				headers: { "x-b": "params" },
			},
			config: { headers: { "x-a": "config", "x-b": "config" } },
		});
		const { prompt: _, abortSignal, ...options } = played.calls[0] as CallOptions;
		expect(abortSignal).toBeInstanceOf(AbortSignal);
		expect(options).toEqual({
			temperature: 0.5,
			maxOutputTokens: 100,
			topP: 0.9,
			stopSequences: ["END"],
			frequencyPenalty: 1,
			headers: { "x-a": "config", "x-b": "params" },
			providerOptions: { acme: { logit_bias: { a: 1 }, store: true }, other: { b: 2 } },
		});
	});

	test.each([
		["auto", { type: "auto" }],
		["any", { type: "required" }],
		["add", { type: "tool", toolName: "add" }],
		[{ type: "none" }, { type: "none" }],
		[
			{ type: "tool", toolName: "add" },
			{ type: "tool", toolName: "add" },
		],
		[
			{ type: "function", function: { name: "add" } },
			{ type: "tool", toolName: "add" },
		],
	])("can choose a tool as %j", async (tool_choice, toolChoice) => {
		const played = play([finishV4]);
		await ask(played, { params: { tool_choice } });
		expect(played.calls[0]?.toolChoice).toEqual(toolChoice);
	});

	test("of tools are passed on, converted once for a list", async () => {
		const played = play([finishV4]);
		const tools = [
			{ name: "add", description: "Adds.", parameters: { type: "object" }, metadata: { acme: { cache: 1 } } },
		];
		await ask(played, { tools });
		await ask(played, { tools });
		expect(played.calls[0]?.tools).toEqual([
			{
				type: "function",
				name: "add",
				description: "Adds.",
				inputSchema: { type: "object", properties: {} },
				providerOptions: { acme: { cache: 1 } },
			},
		]);
		expect(played.calls[1]?.tools).toBe(played.calls[0]?.tools);
		await ask(played, { tools: [] });
		expect(played.calls[2]?.tools).toBeUndefined();
	});
});

describe("a conversation", () => {
	const data = new Uint8Array([1, 2]);
	const url = "http://example.test/a.png";
	const content: UserContent[] = [
		{ type: "text", text: "look", metadata: { acme: { cacheControl: 1 } } },
		{ type: "image", source: { type: "base64", data: "AQI=" }, mimeType: "image/png" },
		{ type: "image", source: { type: "url", url }, mimeType: "image/*" },
		{ type: "document", source: { type: "text", data: "hi" }, mimeType: "text/plain", title: "a.txt" },
		{ type: "audio", data, mimeType: "audio/wav" },
	];

	test("has files in the form of each version", async () => {
		const message = new UserMessage(content, { metadata: { acme: { a: 1 } } });
		const text = { type: "text", text: "look", providerOptions: { acme: { cacheControl: 1 } } };
		expect(await promptFor([message])).toEqual([
			{
				role: "user",
				providerOptions: { acme: { a: 1 } },
				content: [
					text,
					{ type: "file", mediaType: "image/png", data: { type: "data", data: "AQI=" } },
					{ type: "file", mediaType: "image/*", data: { type: "url", url: new URL(url) } },
					{ type: "file", mediaType: "text/plain", data: { type: "text", text: "hi" }, filename: "a.txt" },
					{ type: "file", mediaType: "audio/wav", data: { type: "data", data } },
				],
			},
		]);
		for (const version of ["v2", "v3"] as const) {
			const [{ content: parts }] = await promptFor([message], version);
			expect(parts.slice(1).map((part: any) => part.data)).toEqual([
				"AQI=",
				new URL(url),
				new TextEncoder().encode("hi"),
				data,
			]);
		}
	});

	test("has tool results with the names of their calls, by the kind of their value", async () => {
		const image = { type: "image", source: { type: "bytes", data }, mimeType: "image/png" };
		const live = { at: new Date(0), bytes: Buffer.from([1, 2]), big: 9n };
		const circular: unknown[] = [];
		circular.push(circular);
		const values: unknown[] = ["text", live, undefined, [{ type: "text", text: "see" }, image]];
		const calls = [...values.keys(), "unknown", "circular"].map((id) => ({
			toolCallId: `${id}`,
			toolName: `tool_${id}`,
			arguments: {},
		}));
		const messages = [
			new AssistantMessage("", calls),
			new ToolResultMessage([
				...values.map((result, index) => ({ toolCallId: `${index}`, result })),
				{ toolCallId: "unknown", result: { why: "broken" }, isError: true },
				{ toolCallId: "circular", result: circular },
			]),
		];
		const [, { role, content: results }] = await promptFor(messages);
		expect(role).toBe("tool");
		expect(results.map((part: any) => part.toolName)).toEqual([
			"tool_0",
			"tool_1",
			"tool_2",
			"tool_3",
			"tool_unknown",
			"tool_circular",
		]);
		expect(results.map((part: any) => part.output)).toEqual([
			{ type: "text", value: "text" },
			{ type: "json", value: { at: "1970-01-01T00:00:00.000Z", bytes: "AQI=", big: "9" } },
			{ type: "text", value: "" },
			{
				type: "content",
				value: [
					{ type: "text", text: "see" },
					{ type: "file", mediaType: "image/png", data: { type: "data", data } },
				],
			},
			{ type: "error-json", value: { why: "broken" } },
			{ type: "text", value: expect.stringContaining("circular") },
		]);
		const [, { content: olderResults }] = await promptFor(messages, "v2");
		expect(olderResults[3].output.value[1]).toEqual({ type: "media", data: "AQI=", mediaType: "image/png" });
	});

	test("is converted once a message", async () => {
		const messages = [new UserMessage("a"), new AssistantMessage("b"), new UserMessage("c")];
		const first = await promptFor(messages);
		const second = await promptFor([...messages, new UserMessage("d")]);
		expect(second.slice(0, 3).every((message, index) => message === first[index])).toBe(true);
	});

	test("finds the name of a call that an earlier window had cut off", async () => {
		const results = new ToolResultMessage([{ toolCallId: "1", result: "x" }]);
		expect(await promptFor([results])).toMatchObject([{ role: "user" }]);
		const calls = new AssistantMessage("", [{ toolCallId: "1", toolName: "add", arguments: {} }]);
		expect((await promptFor([calls, results]))[1].content[0].toolName).toBe("add");
	});

	test("starts with the system prompt", async () => {
		const played = play([finishV4]);
		await ask(played, { system: "Be kind." });
		expect(played.calls[0]?.prompt[0]).toEqual({ role: "system", content: "Be kind." });
	});
});

describe("an answer", () => {
	test("has usage, nested as in V4 and flat as in V2", async () => {
		expect((await ask(play([finishV4]))).usage).toEqual({
			inputTokens: 10,
			outputTokens: 4,
			totalTokens: 14,
			cacheReadTokens: 5,
			cacheWriteTokens: 2,
		});
		const usage = { inputTokens: 10, outputTokens: 4, totalTokens: 15, cachedInputTokens: 5 };
		const flat = play([{ type: "finish", finishReason: "stop", usage }], "v2");
		expect((await ask(flat)).usage).toEqual({
			inputTokens: 10,
			outputTokens: 4,
			totalTokens: 15,
			cacheReadTokens: 5,
		});
		const none = play([{ ...finishV4, usage: { inputTokens: {}, outputTokens: {} } }]);
		expect((await ask(none)).usage).toEqual({ inputTokens: 0, outputTokens: 0, totalTokens: 0 });
		for (const usage of [
			undefined,
			null,
			{ inputTokens: null, outputTokens: Number.NaN, totalTokens: null },
		]) {
			const uncounted = play([{ ...finishV4, usage: usage as never }]);
			expect((await ask(uncounted)).usage).toEqual({ inputTokens: 0, outputTokens: 0, totalTokens: 0 });
		}
	});

	test.each([
		["stop", "stop"],
		["length", "length"],
		["content-filter", "content_filter"],
		["error", "error"],
		["other", "other"],
	])("that ended by %s has the stop reason %s", async (unified, stopReason) => {
		const finish = { ...finishV4, finishReason: { unified, raw: "said" } };
		expect((await ask(play([finish]))).stopReason).toBe(stopReason);
		expect((await ask(play([{ type: "finish", finishReason: unified }], "v2"))).stopReason).toBe(stopReason);
	});

	test("contains files, sources and empty reasoning that must be returned; empty text is omitted", async () => {
		const played = play([
			{ type: "text-start", id: "0" },
			{ type: "text-end", id: "0" },
			{ type: "reasoning-start", id: "1", providerMetadata: { acme: { redactedData: "r" } } },
			{ type: "reasoning-end", id: "1" },
			{ type: "file", mediaType: "image/png", data: { type: "data", data: "AQI=" } },
			{ type: "file", mediaType: "application/pdf", data: { type: "url", url: new URL("http://x.test/a") } },
			{ type: "file", mediaType: "application/zip", data: new Uint8Array([3]) },
			{ type: "source", sourceType: "url", id: "s1", url: "http://x.test", title: "X" },
			finishV4,
		]);
		const events: StreamEvent[] = [];
		const stream = bind(played.model).stream({ messages: [], config: {} });
		for await (const event of stream) events.push(event);
		const { message } = await stream.response;
		expect(message.content).toEqual([
			{ type: "reasoning", text: "", metadata: { acme: { redactedData: "r" } } },
			{ type: "image", source: { type: "bytes", data: new Uint8Array([1, 2]) }, mimeType: "image/png" },
			{ type: "document", source: { type: "url", url: "http://x.test/a" }, mimeType: "application/pdf" },
			{ type: "binary", data: new Uint8Array([3]), mimeType: "application/zip" },
		]);
		expect(message.metadata?.upp?.sources).toEqual([
			{ sourceType: "url", id: "s1", url: "http://x.test", title: "X" },
		]);
		expect(events.find(({ type }) => type === "image_delta")).toMatchObject({
			index: 1,
			delta: { data: new Uint8Array([1, 2]) },
		});
	});

	test("is returned in its order, with the provider's own executions, also after a restart", async () => {
		const acme = (id: string) => ({ acme: { id } });
		const parts: StreamPart[] = [
			{ type: "reasoning-delta", id: "0", delta: "hm", providerMetadata: acme("r1") },
			{
				type: "tool-call",
				toolCallId: "s1",
				toolName: "search",
				input: '{"q":1}',
				providerExecuted: true,
				providerMetadata: acme("s1"),
			},
			{ type: "tool-result", toolCallId: "s1", toolName: "search", result: ["found"] },
			{ type: "text-delta", id: "1", delta: "Found." },
			{ type: "tool-call", toolCallId: "c1", toolName: "add", input: "", providerMetadata: acme("c1") },
			{ type: "custom", kind: "acme.compaction", providerMetadata: acme("k1") },
			{ type: "text-delta", id: "2", delta: "Wait." },
			{ type: "tool-call", toolCallId: "c2", toolName: "add", input: "{}" },
			finishV4,
		];
		const { message, stopReason } = await ask(play(parts));
		expect(stopReason).toBe("tool_calls");
		expect(message.toolCalls?.map(({ toolCallId }) => toolCallId)).toEqual(["c1", "c2"]);
		const [sent] = await promptFor([messageFromJSON(JSON.parse(JSON.stringify(message)))]);
		expect(sent.providerOptions).toBeUndefined();
		expect(sent.content).toEqual([
			{ type: "reasoning", text: "hm", providerOptions: acme("r1") },
			{
				type: "tool-call",
				toolCallId: "s1",
				toolName: "search",
				input: { q: 1 },
				providerExecuted: true,
				providerOptions: acme("s1"),
			},
			{
				type: "tool-result",
				toolCallId: "s1",
				toolName: "search",
				output: { type: "json", value: ["found"] },
			},
			{ type: "text", text: "Found." },
			{ type: "custom", kind: "acme.compaction", providerOptions: acme("k1") },
			{ type: "tool-call", toolCallId: "c1", toolName: "add", input: {}, providerOptions: acme("c1") },
			{ type: "text", text: "Wait." },
			{ type: "tool-call", toolCallId: "c2", toolName: "add", input: {} },
		]);
	});

	test("collects the provider's metadata of a block at its start, within it and at its end", async () => {
		const played = play([
			{ type: "reasoning-start", id: "0", providerMetadata: { acme: { itemId: "r1", encrypted: null } } },
			{ type: "reasoning-delta", id: "0", delta: "hm" },
			{ type: "reasoning-delta", id: "0", delta: "", providerMetadata: { acme: { signature: "s" } } },
			{ type: "reasoning-end", id: "0", providerMetadata: { acme: { encrypted: "e" }, other: { a: 1 } } },
			finishV4,
		]);
		expect((await ask(played)).message.content).toEqual([
			{
				type: "reasoning",
				text: "hm",
				metadata: { acme: { itemId: "r1", encrypted: "e", signature: "s" }, other: { a: 1 } },
			},
		]);
	});

	test("whose stream ignores the signal is cancelled with its reader", async () => {
		const cancelled = Promise.withResolvers<unknown>();
		const opened = Promise.withResolvers<void>();
		const { model } = play([]);
		const doStream = async () => {
			opened.resolve();
			return { stream: new ReadableStream({ cancel: cancelled.resolve }) };
		};
		const controller = new AbortController();
		const stream = bind({ ...model, doStream }).stream({
			messages: [],
			config: {},
			signal: controller.signal,
		});
		await opened.promise;
		controller.abort();
		await expect(stream.response).rejects.toMatchObject({ code: "CANCELLED" });
		expect(await cancelled.promise).toMatchObject({ code: "CANCELLED" });
	});

	test("returned whole is the same as streamed", async () => {
		const whole: StreamPart[] = [
			{ type: "reasoning", text: "hm", providerMetadata: { acme: { signature: "s" } } },
			{ type: "text", text: "Hello." },
			finishV4,
		];
		const played = play(whole);
		const { message, usage } = await bind(played.model).complete({ messages: [], config: {} });
		expect(message.content).toEqual([
			{ type: "reasoning", text: "hm", metadata: { acme: { signature: "s" } } },
			{ type: "text", text: "Hello." },
		]);
		expect(usage.totalTokens).toBe(14);
	});
});

test("a connection cannot be changed on a model that has one", async () => {
	await expect(ask(play([finishV4]), { config: { apiKey: "other" } })).rejects.toMatchObject({
		code: "INVALID_REQUEST",
		message: expect.stringContaining("config.apiKey"),
	});
});
