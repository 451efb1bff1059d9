// Answers of real providers, through the real `@ai-sdk/*` packages, from a local server. Expectations are computed from
// the recorded payloads, so none of their content is repeated here.
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { type AssistantMessage, messageFromJSON, ToolResultMessage, UserMessage } from "../messages/index.ts";
import type { LLMRequest, LLMResponse, ModelReference } from "../model/index.ts";
import { anthropic, google, openai, openaiCompatible } from "../providers/index.ts";
import { noRetry } from "../retry/index.ts";
import type { StreamEvent } from "../stream/index.ts";
import { bindLanguageModel } from "./language-model.ts";
import {
	type Format,
	type ProviderServer,
	type Reply,
	recorded,
	recordings,
	recordingsTitle,
	sse,
	startServer,
} from "./provider-server.fixture.ts";

const models: Record<string, (baseURL: string) => ModelReference> = {
	anthropic: (baseURL) => anthropic("claude", { apiKey: "key", baseURL }),
	google: (baseURL) => google("gemini", { apiKey: "key", baseURL }),
	"openai-chat": (baseURL) => openai("gpt", { apiKey: "key", baseURL, api: "chat" }),
	"openai-compatible": (baseURL) => openaiCompatible("any", { apiKey: "key", baseURL, name: "deepseek" }),
};

interface Recording {
	name: string;
	provider: keyof typeof models;
	format: Format;
	stopReason: LLMResponse["stopReason"];
}

const all: readonly Recording[] = [
	{ name: "anthropic-text", provider: "anthropic", format: "anthropic", stopReason: "stop" },
	{ name: "anthropic-thinking", provider: "anthropic", format: "anthropic", stopReason: "stop" },
	{ name: "anthropic-tool-call", provider: "anthropic", format: "anthropic", stopReason: "tool_calls" },
	{ name: "anthropic-tool-no-args", provider: "anthropic", format: "anthropic", stopReason: "tool_calls" },
	{ name: "anthropic-refusal", provider: "anthropic", format: "anthropic", stopReason: "content_filter" },
	{ name: "google-text", provider: "google", format: "google", stopReason: "stop" },
	{ name: "google-reasoning", provider: "google", format: "google", stopReason: "stop" },
	{ name: "google-tool-call", provider: "google", format: "google", stopReason: "tool_calls" },
	{ name: "openai-chat-text", provider: "openai-chat", format: "openai", stopReason: "stop" },
	{
		name: "openai-compatible-deepseek-tool-call",
		provider: "openai-compatible",
		format: "openai",
		stopReason: "tool_calls",
	},
	{
		name: "openai-compatible-reasoning",
		provider: "openai-compatible",
		format: "openai",
		stopReason: "stop",
	},
	{
		name: "openai-compatible-tool-call",
		provider: "openai-compatible",
		format: "openai",
		stopReason: "tool_calls",
	},
];

function find(name: string): Recording {
	const recording = all.find((candidate) => candidate.name === name);
	if (recording === undefined) throw new Error(`No recording ${name}.`);
	return recording;
}

let server: ProviderServer | undefined;

afterEach(async () => {
	await server?.stop();
	server = undefined;
});

interface Followed {
	response: LLMResponse;
	events: StreamEvent[];
}

const request: LLMRequest = {
	messages: [new UserMessage("Hello.")],
	config: { retryStrategy: noRetry },
	tools: [{ name: "weather", description: "Tells the weather.", parameters: { type: "object" } }],
};

async function follow(recording: Recording, reply: Reply, given: LLMRequest = request): Promise<Followed> {
	await server?.stop();
	server = await startServer([reply]);
	const reference = models[recording.provider]?.(server.url);
	const model = reference?.provider.modalities.llm?.bind(reference.modelId, reference.options);
	if (model === undefined) throw new Error("no model");
	const stream = model.stream(given);
	const events: StreamEvent[] = [];
	for await (const event of stream) events.push(event);
	return { response: await stream.response, events };
}

function bodyOf({ name, format }: Recording): string {
	return sse(recorded(`${name}.chunks.txt`), format);
}

interface Said {
	text: string;
	reasoning: string;
	argumentsJson: string;
	outputTokens: number;
}

/** The content of the payloads, read directly from the providers' formats. */
function whatWasSaid(recording: Recording): Said {
	const said: Said = { text: "", reasoning: "", argumentsJson: "", outputTokens: 0 };
	for (const line of recorded(`${recording.name}.chunks.txt`)) {
		const payload = JSON.parse(line);
		const delta = payload.choices?.[0]?.delta ?? payload.delta ?? {};
		said.text += delta.content ?? (payload.type === "content_block_delta" ? (delta.text ?? "") : "");
		said.reasoning += delta.reasoning_content ?? delta.thinking ?? "";
		said.argumentsJson += delta.tool_calls?.[0]?.function?.arguments ?? delta.partial_json ?? "";
		for (const part of payload.candidates?.[0]?.content?.parts ?? []) {
			said.text += part.text ?? "";
			if (part.functionCall !== undefined) said.argumentsJson += JSON.stringify(part.functionCall.args);
		}
		const google = payload.usageMetadata;
		said.outputTokens =
			payload.usage?.output_tokens ??
			(google && google.candidatesTokenCount + google.thoughtsTokenCount) ??
			payload.usage?.completion_tokens ??
			said.outputTokens;
	}
	return said;
}

function concatenated(events: readonly StreamEvent[], type: StreamEvent["type"]): string {
	const found = events.filter((event) => event.type === type);
	return found.map(({ delta }) => delta.text ?? delta.argumentsJson ?? "").join("");
}

function reasoningOf(message: AssistantMessage): string {
	return message.content.map((block) => (block.type === "reasoning" ? block.text : "")).join("");
}

function withoutIds({ message, ...rest }: LLMResponse): unknown {
	// Calls of providers that send no ids get random ones.
	const toolCalls = message.toolCalls?.map(({ toolCallId: _, ...call }) => call);
	const { callPlaces: _, ...carried } = message.metadata?.upp ?? {};
	return { ...rest, content: message.content, toolCalls, metadata: { ...message.metadata, upp: carried } };
}

describe.skipIf(recordings === undefined)(recordingsTitle("a recorded answer"), () => {
	test.each(all)(
		"$name arrives completely: text, reasoning, calls, usage and stop reason",
		async (recording) => {
			const { response, events } = await follow(recording, { body: bodyOf(recording) });
			const said = whatWasSaid(recording);
			const { message } = response;
			expect(message.text).toBe(said.text);
			expect(concatenated(events, "text_delta")).toBe(said.text);
			expect(reasoningOf(message)).toBe(said.reasoning);
			expect(concatenated(events, "reasoning_delta")).toBe(said.reasoning);
			expect(concatenated(events, "tool_call_delta").replace(/^\{\}$/, "")).toBe(said.argumentsJson);
			const calls = message.toolCalls ?? [];
			expect(calls.map((call) => call.arguments)).toEqual(
				recording.stopReason === "tool_calls" ? [JSON.parse(said.argumentsJson || "{}")] : [],
			);
			expect(calls.every(({ toolName, toolCallId }) => toolName !== "" && toolCallId !== "")).toBe(true);
			expect(response.stopReason).toBe(recording.stopReason);
			expect(response.usage.outputTokens).toBe(said.outputTokens);
			expect(response.usage.inputTokens).toBeGreaterThan(0);
			expect(events[0]?.type).toBe("message_start");
			expect(events.at(-1)?.type).toBe("message_stop");
		},
	);

	test.each(all)("$name is the same wherever its bytes are split", async (recording) => {
		const body = Buffer.from(bodyOf(recording));
		const whole = withoutIds((await follow(recording, { body })).response);
		const splits = fc.uniqueArray(fc.nat({ max: body.length - 1 }), { minLength: 1, maxLength: 12 });
		await fc.assert(
			fc.asyncProperty(splits, async (places) => {
				const splitAt = places.sort((a, b) => a - b);
				const { response } = await follow(recording, { body, splitAt });
				expect(withoutIds(response)).toEqual(whole);
			}),
			{ numRuns: 8 },
		);
	});

	test.each(all)("$name cut off before its end is a NETWORK_ERROR, never an answer", async (recording) => {
		const lines = recorded(`${recording.name}.chunks.txt`);
		const last = lines.findIndex((line) => /"(finish_reason|finishReason|stop_reason)":\s*"/.test(line));
		const lengths = fc.integer({ min: 0, max: last });
		await fc.assert(
			fc.asyncProperty(lengths, fc.constantFrom("complete", "cut"), async (length, ending) => {
				const body = sse(lines.slice(0, length), recording.format).replace("data: [DONE]\n\n", "");
				await expect(follow(recording, { body, ending: ending as "cut" })).rejects.toMatchObject({
					code: "NETWORK_ERROR",
					retryable: true,
				});
			}),
			{ numRuns: 6 },
		);
	});
});

describe.skipIf(recordings === undefined)(recordingsTitle("what a provider wants to see again"), () => {
	// Stored as JSON and read back, as a journal would.
	async function sendBack(recording: Recording): Promise<{ sent: any; message: AssistantMessage }> {
		const { response } = await follow(recording, { body: bodyOf(recording) });
		const message = messageFromJSON(JSON.parse(JSON.stringify(response.message))) as AssistantMessage;
		const results = (message.toolCalls ?? []).map(({ toolCallId }) => ({ toolCallId, result: "12 °C" }));
		const next = results.length > 0 ? new ToolResultMessage(results) : new UserMessage("And now?");
		const messages = [...request.messages, message, next];
		await follow(recording, { body: bodyOf(recording) }, { ...request, messages });
		return { sent: server?.requests[0]?.body, message };
	}

	test("Anthropic gets its thinking back with the signature", async () => {
		const recording = find("anthropic-thinking");
		const { sent } = await sendBack(recording);
		const signature = recorded("anthropic-thinking.chunks.txt")
			.map((line) => JSON.parse(line).delta?.signature)
			.find((given) => given !== undefined);
		expect(signature).toBeTypeOf("string");
		const { reasoning, text } = whatWasSaid(recording);
		expect(sent.messages[1].content).toEqual([
			{ type: "thinking", thinking: reasoning, signature },
			{ type: "text", text },
		]);
	});

	test("Anthropic gets the result under the id of its call", async () => {
		const { sent, message } = await sendBack(find("anthropic-tool-no-args"));
		const id = message.toolCalls?.[0]?.toolCallId;
		expect(sent.messages[1].content.at(-1)).toMatchObject({ type: "tool_use", id, input: {} });
		expect(sent.messages[2].content[0]).toMatchObject({ type: "tool_result", tool_use_id: id });
	});

	test.each(["google-tool-call", "google-text"])(
		"Google gets its thought signature back: %s",
		async (name) => {
			const { sent } = await sendBack(find(name));
			const signature = recorded(`${name}.chunks.txt`)
				.flatMap((line) => JSON.parse(line).candidates[0].content.parts)
				.find((part) => part.thoughtSignature !== undefined).thoughtSignature;
			expect(sent.contents[1].parts.map((part: any) => part.thoughtSignature)).toContain(signature);
		},
	);

	test("DeepSeek gets its reasoning back with the call, and the result with its name", async () => {
		const recording = find("openai-compatible-deepseek-tool-call");
		const { sent } = await sendBack(recording);
		expect(sent.messages[1]).toMatchObject({
			reasoning_content: whatWasSaid(recording).reasoning,
			tool_calls: [{ function: { name: "weather" } }],
		});
		expect(sent.messages[2]).toMatchObject({ role: "tool", content: "12 °C" });
	});
});

test.skipIf(recordings === undefined)(
	recordingsTitle("Google's 429 is waited out as long as its RetryInfo says"),
	async () => {
		const refusal = { status: 429, headers: { "content-type": "application/json" } };
		const body = recorded("google-429-retry-info.json").join("\n");
		server = await startServer([{ ...refusal, body }, { body: bodyOf(find("google-text")) }]);
		const slept: number[] = [];
		const model = bindLanguageModel(
			createGoogleGenerativeAI({ apiKey: "key", baseURL: server.url })("gemini"),
			async (milliseconds) => void slept.push(milliseconds),
		);
		const codes: string[] = [];
		const response = await model.stream({
			...request,
			config: {},
			onRetry: ({ error }) => void codes.push(error.code),
		}).response;
		expect(response.message.text).toBe(whatWasSaid(find("google-text")).text);
		expect(slept).toEqual([34_400]);
		expect(codes).toEqual(["RATE_LIMITED"]);
	},
);
