// Unusual behaviour of providers, simulated by a local server, through the real `@ai-sdk/*` packages.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { afterEach, describe, expect, test } from "vitest";
import { type AssistantMessage, messageFromJSON, ToolResultMessage, UserMessage } from "../messages/index.ts";
import type { BoundLLMModel, LLMRequest } from "../model/index.ts";
import { bindLanguageModel } from "./language-model.ts";
import { type ProviderServer, type Reply, sse, startServer } from "./provider-server.fixture.ts";

let server: ProviderServer;
let slept: number[] = [];

afterEach(async () => {
	await server.stop();
	slept = [];
});

const sleep = async (milliseconds: number): Promise<void> => void slept.push(milliseconds);

async function chatModel(...replies: Reply[]): Promise<BoundLLMModel> {
	server = await startServer(replies);
	return bindLanguageModel(createOpenAI({ apiKey: "key", baseURL: server.url }).chat("gpt"), sleep);
}

async function anthropicModel(...replies: Reply[]): Promise<BoundLLMModel> {
	server = await startServer(replies);
	return bindLanguageModel(createAnthropic({ apiKey: "key", baseURL: server.url })("claude"), sleep);
}

async function responsesModel(...replies: Reply[]): Promise<BoundLLMModel> {
	server = await startServer(replies);
	return bindLanguageModel(createOpenAI({ apiKey: "key", baseURL: server.url })("gpt-5.2"), sleep);
}

function request(extra: Partial<LLMRequest> = {}): LLMRequest {
	return { messages: [new UserMessage("Hello.")], config: {}, ...extra };
}

function chatChunk(delta: object, finishReason: string | null = null): string {
	const choices = [{ index: 0, delta, finish_reason: finishReason }];
	return JSON.stringify({ id: "c1", object: "chat.completion.chunk", created: 1, model: "gpt", choices });
}

function chatStream(...chunks: string[]): Reply {
	return { body: sse(chunks, "openai") };
}

const hello = chatStream(chatChunk({ role: "assistant", content: "Hello." }), chatChunk({}, "stop"));

function failure(status: number, error: object, headers: Record<string, string> = {}): Reply {
	return {
		status,
		headers: { "content-type": "application/json", ...headers },
		body: JSON.stringify({ error }),
	};
}

describe("a provider that fails at first", () => {
	test("with 500s is retried, at most twice, with increasing waits", async () => {
		const broken = failure(500, { message: "Internal error.", type: "server_error" });
		const model = await chatModel(broken, broken, hello);
		expect((await model.stream(request()).response).message.text).toBe("Hello.");
		expect(slept).toEqual([500, 1000]);
		await server.stop();
		const never = await chatModel(broken);
		await expect(never.stream(request()).response).rejects.toMatchObject({
			code: "PROVIDER_ERROR",
			statusCode: 500,
			retryable: true,
			message: "Internal error.",
		});
		expect(server.requests).toHaveLength(3);
	});

	test.each([
		["retry-after", "3", 3000],
		["retry-after-ms", "1234.5", 1234.5],
	])("with a 429 and %s is retried after that time", async (header, value, wait) => {
		const model = await chatModel(failure(429, { message: "Slow down." }, { [header]: value }), hello);
		expect((await model.stream(request()).response).message.text).toBe("Hello.");
		expect(slept).toEqual([wait]);
	});

	test.each([
		[401, { message: "Bad key." }, "AUTHENTICATION_FAILED"],
		[400, { message: "API key not valid." }, "AUTHENTICATION_FAILED"],
		[403, { message: "Not yours." }, "AUTHENTICATION_FAILED"],
		[404, { message: "No such model." }, "MODEL_NOT_FOUND"],
		[400, { message: "Bad temperature." }, "INVALID_REQUEST"],
		[400, { message: "This model's maximum context length is 8 tokens." }, "CONTEXT_LENGTH_EXCEEDED"],
		[413, { message: "Too large." }, "CONTEXT_LENGTH_EXCEEDED"],
		[429, { message: "Pay first.", code: "insufficient_quota" }, "QUOTA_EXCEEDED"],
		[400, { message: "Blocked.", code: "content_filter" }, "CONTENT_FILTERED"],
	])("with %s %j is %s and not retried", async (status, error, code) => {
		const model = await chatModel(failure(status, error));
		await expect(model.stream(request()).response).rejects.toMatchObject({
			name: "UPPError",
			code,
			statusCode: status,
			retryable: false,
			provider: "openai.chat",
			modality: "llm",
		});
		expect(server.requests).toHaveLength(1);
	});

	test("to accept the connection is a NETWORK_ERROR", async () => {
		const model = await chatModel();
		await server.stop();
		await expect(model.stream(request()).response).rejects.toMatchObject({ code: "NETWORK_ERROR" });
		expect(slept).toEqual([500, 1000]);
	});
});

describe("an error inside a stream", () => {
	const start = JSON.stringify({
		type: "message_start",
		message: {
			id: "m",
			type: "message",
			role: "assistant",
			model: "claude",
			content: [],
			usage: { input_tokens: 1, output_tokens: 1 },
		},
	});
	const block = JSON.stringify({
		type: "content_block_start",
		index: 0,
		content_block: { type: "text", text: "" },
	});
	const delta = JSON.stringify({
		type: "content_block_delta",
		index: 0,
		delta: { type: "text_delta", text: "Hel" },
	});
	const overloaded = JSON.stringify({
		type: "error",
		error: { type: "overloaded_error", message: "Overloaded" },
	});
	const stop = [
		JSON.stringify({ type: "content_block_stop", index: 0 }),
		JSON.stringify({
			type: "message_delta",
			delta: { stop_reason: "end_turn" },
			usage: { output_tokens: 2 },
		}),
		JSON.stringify({ type: "message_stop" }),
	];

	test("before any content is retried", async () => {
		const model = await anthropicModel(
			{ body: sse([start, overloaded], "anthropic") },
			{ body: sse([start, block, delta, ...stop], "anthropic") },
		);
		expect((await model.stream(request()).response).message.text).toBe("Hel");
		expect(slept).toEqual([500]);
	});

	test("after content ends the answer with its code", async () => {
		const model = await anthropicModel({ body: sse([start, block, delta, overloaded], "anthropic") });
		await expect(model.stream(request()).response).rejects.toMatchObject({
			code: "PROVIDER_ERROR",
			statusCode: 529,
			retryable: true,
		});
		expect(server.requests).toHaveLength(1);
	});
});

describe("a provider that hangs", () => {
	const half: Reply = { ...chatStream(chatChunk({ content: "Hel" })), ending: "hang" };
	half.body = String(half.body).replace("data: [DONE]\n\n", "");

	test.each<[string, Reply]>([
		["before it answers", { ending: "hang" }],
		["within its answer", half],
	])("%s is abandoned after `config.timeout`, and sees the connection close", async (_, reply) => {
		const model = await chatModel(reply);
		const stream = model.stream(request({ config: { timeout: 50 } }));
		await expect(stream.response).rejects.toMatchObject({ code: "TIMEOUT", retryable: true });
		await server.closed;
		expect(server.requests).toHaveLength(1);
	});

	test("is abandoned at once when the call is cancelled, and sees the connection close", async () => {
		const model = await chatModel(half);
		const controller = new AbortController();
		const stream = model.stream(request({ signal: controller.signal }));
		const read = (async () => {
			for await (const event of stream) if (event.delta.text === "Hel") controller.abort();
		})();
		await expect(read).rejects.toMatchObject({ code: "CANCELLED" });
		await expect(stream.response).rejects.toMatchObject({ code: "CANCELLED" });
		await server.closed;
	});

	test("is abandoned at once when a whole answer is cancelled", async () => {
		const model = await chatModel({ ending: "hang" });
		const controller = new AbortController();
		const outcome = model.complete(request({ signal: controller.signal }));
		await server.arrived;
		controller.abort();
		await expect(outcome).rejects.toMatchObject({ code: "CANCELLED" });
		await server.closed;
	});
});

describe("an answer", () => {
	test("that was filtered is marked as filtered", async () => {
		const model = await chatModel(chatStream(chatChunk({ content: "I" }), chatChunk({}, "content_filter")));
		expect(await model.stream(request()).response).toMatchObject({ stopReason: "content_filter" });
	});

	test("that reached the token limit is marked as such", async () => {
		const model = await chatModel(chatStream(chatChunk({ content: "I" }), chatChunk({}, "length")));
		expect(await model.stream(request()).response).toMatchObject({ stopReason: "length" });
	});

	test("with arguments that are not JSON keeps them for the handler of the call", async () => {
		const broken = { index: 0, id: "t1", type: "function", function: { name: "add", arguments: '{"a": 1,' } };
		server = await startServer([
			chatStream(chatChunk({ tool_calls: [broken] }), chatChunk({}, "tool_calls")),
		]);
		const provider = createOpenAICompatible({ name: "any", baseURL: server.url });
		const response = await bindLanguageModel(provider("m"), sleep).stream(request()).response;
		expect(response.message.toolCalls).toEqual([
			{ toolCallId: "t1", toolName: "add", arguments: {}, invalidArguments: '{"a": 1,' },
		]);
		expect(response.stopReason).toBe("tool_calls");
	});

	test("returned whole is read like a streamed one", async () => {
		const choice = {
			index: 0,
			finish_reason: "tool_calls",
			message: {
				role: "assistant",
				content: "Adding.",
				tool_calls: [{ id: "t1", type: "function", function: { name: "add", arguments: '{"a":1}' } }],
			},
		};
		const usage = {
			prompt_tokens: 9,
			completion_tokens: 3,
			total_tokens: 12,
			prompt_tokens_details: { cached_tokens: 4 },
		};
		const model = await chatModel({
			headers: { "content-type": "application/json" },
			body: JSON.stringify({ id: "r1", created: 1, model: "gpt", choices: [choice], usage }),
		});
		const response = await model.complete(request());
		expect(response).toMatchObject({
			stopReason: "tool_calls",
			usage: { inputTokens: 9, outputTokens: 3, totalTokens: 12, cacheReadTokens: 4 },
		});
		expect(response.message.text).toBe("Adding.");
		expect(response.message.toolCalls).toEqual([{ toolCallId: "t1", toolName: "add", arguments: { a: 1 } }]);
		expect(response.message.metadata?.upp).toMatchObject({ responseId: "r1", modelId: "gpt" });
	});

	const structure = { type: "object", title: "Sum", properties: { a: { type: "number" } } };

	test("with a structure is requested with its schema, streamed as an object and parsed", async () => {
		const model = await chatModel(
			chatStream(chatChunk({ content: '{"a":' }), chatChunk({ content: "1}" }), chatChunk({}, "stop")),
		);
		const stream = model.stream(request({ structure }));
		const types = new Set<string>();
		for await (const { type } of stream) types.add(type);
		expect((await stream.response).data).toEqual({ a: 1 });
		expect(types).toContain("object_delta");
		expect(types).not.toContain("text_delta");
		expect(server.requests[0]?.body.response_format).toMatchObject({
			type: "json_schema",
			json_schema: { name: "Sum", schema: structure },
		});
	});

	test.each([
		["stop", "not JSON"],
		["length", "token limit"],
	])("with a structure that does not parse (%s) is an INVALID_RESPONSE", async (reason, words) => {
		const model = await chatModel(chatStream(chatChunk({ content: '{"a":' }), chatChunk({}, reason)));
		await expect(model.stream(request({ structure })).response).rejects.toMatchObject({
			code: "INVALID_RESPONSE",
			message: expect.stringContaining(words),
		});
	});

	test("with endless calls is cut off above the limit of an answer", async () => {
		const calls = Array.from({ length: 1_001 }, (_, index) =>
			chatChunk({
				tool_calls: [{ index, id: `c${index}`, type: "function", function: { name: "t", arguments: "{" } }],
			}),
		);
		const model = await chatModel(chatStream(...calls, chatChunk({ content: "more" })));
		await expect(model.stream(request()).response).rejects.toMatchObject({
			code: "INVALID_RESPONSE",
			message: expect.stringContaining("more than 1000 tool calls"),
		});
	});

	test("with a structure that does not parse is returned unparsed to a caller who checks it", async () => {
		const model = await chatModel(chatStream(chatChunk({ content: '{"a":' }), chatChunk({}, "length")));
		const response = await model.stream(request({ structure, unparsed: "keep" })).response;
		expect(response).toMatchObject({ stopReason: "length", message: { text: '{"a":' } });
		expect(response).not.toHaveProperty("data");
	});
});

describe("OpenAI's Responses format", () => {
	const reasoning = {
		type: "reasoning",
		id: "rs_1",
		encrypted_content: "secret",
		summary: [{ type: "summary_text", text: "Adding." }],
	};
	const call = {
		type: "function_call",
		id: "fc_1",
		call_id: "call_1",
		name: "add",
		arguments: '{"a":1}',
		status: "completed",
	};
	const created = { id: "resp_1", object: "response", created_at: 1, model: "gpt-5.2" };
	const usage = {
		input_tokens: 20,
		input_tokens_details: { cached_tokens: 16 },
		output_tokens: 7,
		output_tokens_details: { reasoning_tokens: 5 },
		total_tokens: 27,
	};
	const events = [
		{ type: "response.created", response: created },
		{
			type: "response.output_item.added",
			output_index: 0,
			item: { ...reasoning, encrypted_content: null, summary: [] },
		},
		{
			type: "response.reasoning_summary_part.added",
			item_id: "rs_1",
			output_index: 0,
			summary_index: 0,
			part: { type: "summary_text", text: "" },
		},
		{
			type: "response.reasoning_summary_text.delta",
			item_id: "rs_1",
			output_index: 0,
			summary_index: 0,
			delta: "Add",
		},
		{
			type: "response.reasoning_summary_text.delta",
			item_id: "rs_1",
			output_index: 0,
			summary_index: 0,
			delta: "ing.",
		},
		{
			type: "response.reasoning_summary_part.done",
			item_id: "rs_1",
			output_index: 0,
			summary_index: 0,
			part: reasoning.summary[0],
		},
		{ type: "response.output_item.done", output_index: 0, item: reasoning },
		{
			type: "response.output_item.added",
			output_index: 1,
			item: { ...call, arguments: "", status: "in_progress" },
		},
		{ type: "response.function_call_arguments.delta", item_id: "fc_1", output_index: 1, delta: '{"a"' },
		{ type: "response.function_call_arguments.delta", item_id: "fc_1", output_index: 1, delta: ":1}" },
		{ type: "response.function_call_arguments.done", item_id: "fc_1", output_index: 1, arguments: '{"a":1}' },
		{ type: "response.output_item.done", output_index: 1, item: call },
		{
			type: "response.completed",
			response: { ...created, status: "completed", usage, output: [reasoning, call] },
		},
	].map((event, index) => JSON.stringify({ ...event, sequence_number: index }));
	const reply: Reply = { body: events.map((event) => `data: ${event}\n\n`).join("") };

	test("has reasoning, calls in pieces and cached tokens", async () => {
		const model = await responsesModel(reply);
		const stream = model.stream(request());
		let argumentsJson = "";
		for await (const { type, delta } of stream)
			if (type === "tool_call_delta") argumentsJson += delta.argumentsJson;
		const response = await stream.response;
		expect(argumentsJson).toBe('{"a":1}');
		expect(response).toMatchObject({
			stopReason: "tool_calls",
			usage: { inputTokens: 20, outputTokens: 7, totalTokens: 27, cacheReadTokens: 16 },
		});
		expect(response.message.content).toMatchObject([{ type: "reasoning", text: "Adding." }]);
		expect(response.message.toolCalls).toMatchObject([{ toolCallId: "call_1", arguments: { a: 1 } }]);
	});

	test("includes its encrypted reasoning again, before its call, with the call's result", async () => {
		const model = await responsesModel(reply);
		const params = { store: false, include: ["reasoning.encrypted_content"], max_tokens: 99 };
		const { message } = await model.stream(request({ params })).response;
		const back = messageFromJSON(JSON.parse(JSON.stringify(message))) as AssistantMessage;
		const messages = [
			new UserMessage("Hello."),
			back,
			new ToolResultMessage([{ toolCallId: "call_1", result: { sum: 1 } }]),
		];
		await model.stream(request({ messages, params })).response;
		const sent = server.requests[1]?.body;
		expect(sent).toMatchObject({
			store: false,
			max_output_tokens: 99,
			include: ["reasoning.encrypted_content"],
		});
		expect(sent.input.slice(1)).toMatchObject([
			{ type: "reasoning", encrypted_content: "secret", summary: [{ text: "Adding." }] },
			{ type: "function_call", call_id: "call_1", name: "add", arguments: '{"a":1}' },
			{ type: "function_call_output", call_id: "call_1", output: '{"sum":1}' },
		]);
	});

	test("that fails within the stream is an error with its code", async () => {
		const failed = {
			type: "error",
			sequence_number: 1,
			code: "server_error",
			message: "It broke.",
			param: null,
		};
		const model = await responsesModel(
			{ body: `data: ${events[0]}\n\ndata: ${JSON.stringify(failed)}\n\n` },
			reply,
		);
		const response = await model.stream(request()).response;
		expect(response.stopReason).toBe("tool_calls");
		expect(slept).toEqual([500]);
	});

	test("cut off half-way is a NETWORK_ERROR", async () => {
		const model = await responsesModel({
			body: events
				.slice(0, 6)
				.map((event) => `data: ${event}\n\n`)
				.join(""),
		});
		await expect(model.stream(request()).response).rejects.toMatchObject({ code: "NETWORK_ERROR" });
	});
});
