import { describe, expect, test } from "vitest";
import { llm } from "../llm/index.ts";
import type { BoundLLMModel, LLMRequest, LLMResponse, Provider } from "../model/index.ts";
import { AssistantMessage, isMessage, ToolResultMessage, UserMessage } from "./message.ts";
import { messageFromJSON } from "./message-from-json.ts";
import { asMessage, asMessages, insteadOf } from "./other-messages.ts";

const timestamp = new Date("2025-01-02T03:04:05.000Z");
/** A message of another package with the same protocol: a different class with the same members. */
class OtherMessage {
	readonly id = "m1";
	readonly timestamp = timestamp;
	readonly metadata = { acme: { signature: "s" } };
	constructor(members: object) {
		Object.assign(this, members);
	}
	get text(): string {
		return "theirs";
	}
}
const text = { type: "text", text: "Hello." };
const calls = [{ toolCallId: "c", toolName: "t", arguments: { a: 1 } }];
const results = [{ toolCallId: "c", result: { found: 1 } }];

describe("a message of another package", () => {
	test("is converted with its id, time, metadata and content", () => {
		const user = asMessage(new OtherMessage({ type: "user", content: [text] }));
		expect(user).toBeInstanceOf(UserMessage);
		expect(user).toMatchObject({
			id: "m1",
			timestamp,
			metadata: { acme: { signature: "s" } },
			content: [text],
		});
		const assistant = asMessage(new OtherMessage({ type: "assistant", content: [text], toolCalls: calls }));
		expect(assistant).toBeInstanceOf(AssistantMessage);
		expect(assistant).toMatchObject({ toolCalls: calls, hasToolCalls: true, text: "Hello." });
		const result = asMessage(new OtherMessage({ type: "tool_result", results }));
		expect(result).toBeInstanceOf(ToolResultMessage);
		expect(result).toMatchObject({ results });
	});

	test("Holdfast messages stay the same objects, and invalid ones are not converted", () => {
		const own = [new UserMessage("a"), new AssistantMessage("b")];
		expect(own.map(asMessage)).toEqual(own);
		expect(asMessage(own[0])).toBe(own[0]);
		expect(asMessages(own)).toBe(own);
		expect(asMessages([own[0], {}])).toBeUndefined();
		for (const value of [
			undefined,
			null,
			"text",
			{},
			{ role: "user", content: "Hello." },
			{ type: "user", id: "x", content: [text] },
			{ type: "user", id: "x", timestamp: new Date(Number.NaN), content: [text] },
			{ type: "user", id: "x", timestamp, content: "Hello." },
			{ type: "user", id: "x", timestamp, content: [{ type: "what" }] },
			{ type: "assistant", id: "x", timestamp, content: [], toolCalls: [{}] },
			{ type: "tool_result", id: "x", timestamp, results: [null] },
			{ type: "system", id: "x", timestamp, content: [] },
		])
			expect(asMessage(value)).toBeUndefined();
	});

	test("a rejection explains what to pass", () => {
		expect(insteadOf({ role: "user", content: "Hello." })).toMatch(/AI SDK.*role.*"user".*UserMessage/);
		expect(insteadOf({ type: "user", content: [] })).toMatch(/messageFromJSON/);
		expect(insteadOf(5)).toMatch(/UserMessage/);
	});
});

/** A provider of another package: plain objects, its own messages, its own stop reasons. */
function otherProvider(
	answers: readonly object[],
	stopReason: string,
): { provider: Provider; requests: LLMRequest[] } {
	const requests: LLMRequest[] = [];
	let number = 0;
	const bind = (modelId: string): BoundLLMModel => ({
		modelId,
		capabilities: {
			streaming: false,
			tools: true,
			structuredOutput: false,
			imageInput: false,
			videoInput: false,
			audioInput: false,
		},
		complete: async (request) => {
			requests.push(request);
			const message = new OtherMessage({
				id: `a${number}`,
				type: "assistant",
				content: [],
				...answers[number++],
			});
			const usage = {
				inputTokens: 1,
				outputTokens: 1,
				totalTokens: 2,
				cacheReadTokens: 0,
				cacheWriteTokens: 0,
			};
			return { message, usage, stopReason } as unknown as LLMResponse;
		},
		stream: () => {
			throw new Error("not here");
		},
	});
	const provider = Object.assign(() => {}, { version: "1", modalities: { llm: { bind } } });
	return { provider: provider as unknown as Provider, requests };
}

test("a provider of another package is called, and its answers are converted", async () => {
	const run = async ({ a }: { a: number }): Promise<number> => a + 1;
	const tool = { name: "t", description: "Adds.", parameters: { type: "object" }, run };
	const { provider, requests } = otherProvider([{ toolCalls: calls }, { content: [text] }], "end_turn");
	const instance = llm({ model: { modelId: "x", provider }, tools: [tool] });
	const history = [new OtherMessage({ type: "user", content: [text] })];
	const turn = await instance.generate(
		history as never,
		new OtherMessage({ type: "user", content: [text] }) as never,
	);
	expect(turn.response).toBeInstanceOf(AssistantMessage);
	expect(turn.response.text).toBe("Hello.");
	expect(turn.toolExecutions).toMatchObject([{ toolCallId: "c", result: 2 }]);
	expect(requests[0]?.messages.every(isMessage)).toBe(true);
	expect(requests[0]?.messages).toHaveLength(2);
});

test.each([
	["end_turn", "stop"],
	["MAX_TOKENS", "length"],
	["tool-calls", "tool_calls"],
	["tool_use", "tool_calls"],
	["STOP", "stop"],
])("the stop reason %s of a service is %s", async (given, stopReason) => {
	const { provider } = otherProvider([{ content: [text] }], given);
	const bound = provider.modalities.llm?.bind("x") as BoundLLMModel;
	const { bindModel } = await import("../llm/index.ts");
	const binding = bindModel({ model: { modelId: "x", provider } });
	expect(bound.modelId).toBe("x");
	expect((await binding.model.complete(binding.request([new UserMessage("x")]))).stopReason).toBe(stopReason);
});

test("a history of other values is rejected with a helpful message", async () => {
	const { provider } = otherProvider([], "stop");
	const instance = llm({ model: { modelId: "x", provider } });
	const asked = instance.generate([new UserMessage("a"), { role: "assistant", content: "b" }] as never, "go");
	await expect(asked).rejects.toMatchObject({
		code: "invalid_input",
		message: expect.stringMatching(/Item 1 of the history.*AI SDK/),
	});
	await expect(instance.generate({ role: "user", content: "a" } as never)).rejects.toThrow(/AI SDK/);
});

describe("messages that another package wrote as JSON", () => {
	const json = (block: object) =>
		messageFromJSON({ id: "m", type: "user", timestamp: timestamp.toISOString(), content: [block] } as never);

	test.each([
		["base64", "AQI=", [1, 2]],
		["what JSON makes of a Uint8Array", { 0: 1, 1: 255 }, [1, 255]],
		["nothing", "", []],
	])("can have their bytes as %s", (_, data, bytes) => {
		const expected = new Uint8Array(bytes as number[]);
		expect(json({ type: "audio", data, mimeType: "audio/mp3" }).type).toBe("user");
		const message = json({ type: "audio", data, mimeType: "audio/mp3" }) as UserMessage;
		expect(message.content[0]).toMatchObject({ data: expected });
		const image = json({
			type: "image",
			source: { type: "bytes", data },
			mimeType: "image/png",
		}) as UserMessage;
		expect(image.content[0]).toMatchObject({ source: { type: "bytes", data: expected } });
	});

	test.each([
		[{ type: "audio", data: 5, mimeType: "x" }, "content.0.data"],
		[{ type: "binary", data: { 0: 256 }, mimeType: "x" }, "content.0.data"],
		[{ type: "video", data: "*", mimeType: "x" }, "content.0.data"],
		[{ type: "image", source: { type: "bytes" }, mimeType: "x" }, "content.0.source.data"],
		[{ type: "image", source: "x", mimeType: "x" }, "content.0.source"],
	])("are rejected with the path of invalid bytes: %o", (block, path) => {
		expect(() => json(block)).toThrow(expect.objectContaining({ code: "invalid_message", data: { path } }));
	});
});
