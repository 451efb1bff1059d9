import { AssistantMessage, ToolResultMessage, UserMessage } from "@holdfast/upp";
import { type ModelMessage, modelMessageSchema, tool } from "ai";
import { expect, test } from "vitest";
import { z } from "zod";
import { normaliseTools } from "./normalise-tool.ts";
import { runTool } from "./run-tool.ts";
import { contextOf } from "./tool-context.fixture.ts";
import type { AnyTool, EngineTool, ToolContext } from "./types.ts";

function carried(source: AnyTool, context: Partial<ToolContext> = {}) {
	const engineTool = normaliseTools({ a: source }).get("a") as EngineTool;
	return runTool(engineTool, { n: 1 }, contextOf(context), () => {});
}

test("the messages an AI SDK tool reads have the AI SDK's shape", async () => {
	const { promise: given, resolve } = Promise.withResolvers<ModelMessage[]>();
	const reader = tool({
		inputSchema: z.object({ n: z.number() }),
		execute: (_, { messages }) => resolve(messages),
	});
	const call = { toolCallId: "c1", toolName: "add", arguments: { a: 1 } };
	await carried(reader, {
		messages: [
			new UserMessage([
				{ type: "text", text: "what is this?" },
				{ type: "image", source: { type: "base64", data: "aGk=" }, mimeType: "image/png" },
				{
					type: "document",
					source: { type: "url", url: "https://example.com/a.pdf" },
					mimeType: "application/pdf",
				},
			]),
			new AssistantMessage([{ type: "reasoning", text: "hm" }], [call]),
			new ToolResultMessage([{ toolCallId: "c1", result: { sum: 1 } }]),
			new ToolResultMessage([{ toolCallId: "c1", result: "no", isError: true }]),
		],
	});
	const messages = await given;
	for (const message of messages) expect(modelMessageSchema.safeParse(message).error).toBeUndefined();
	expect(messages).toEqual([
		{
			role: "user",
			content: [
				{ type: "text", text: "what is this?" },
				{ type: "file", data: "aGk=", mediaType: "image/png" },
				{ type: "file", data: new URL("https://example.com/a.pdf"), mediaType: "application/pdf" },
			],
		},
		{
			role: "assistant",
			content: [
				{ type: "reasoning", text: "hm" },
				{ type: "tool-call", toolCallId: "c1", toolName: "add", input: { a: 1 } },
			],
		},
		{
			role: "tool",
			content: [
				{
					type: "tool-result",
					toolCallId: "c1",
					toolName: "add",
					output: { type: "json", value: { sum: 1 } },
				},
			],
		},
		{
			role: "tool",
			content: [
				{
					type: "tool-result",
					toolCallId: "c1",
					toolName: "add",
					output: { type: "error-text", value: "no" },
				},
			],
		},
	]);
});

test("toModelOutput determines what the model sees; watchers get the output itself", async () => {
	const asked: unknown[] = [];
	const showing = (shown: unknown) =>
		carried({
			inputSchema: { type: "object" },
			execute: async () => ({ big: true }),
			toModelOutput(call: unknown) {
				asked.push(call);
				return shown;
			},
		} as AnyTool);
	const details = { big: true };
	expect(await showing({ type: "text", value: "small" })).toEqual({
		output: "small",
		details,
		isError: false,
	});
	expect(asked).toEqual([{ toolCallId: "call_1", input: { n: 1 }, output: details }]);
	expect(await showing({ type: "json", value: [1] })).toMatchObject({ output: [1], isError: false });
	expect(await showing({ type: "error-text", value: "bad" })).toMatchObject({ output: "bad", isError: true });
	expect(await showing({ type: "execution-denied", reason: "no" })).toMatchObject({
		output: "no",
		isError: true,
		denied: true,
	});
	const providerOptions = { anthropic: { cacheControl: { type: "ephemeral" } } };
	expect(await showing({ type: "text", value: "small", providerOptions })).toMatchObject({
		output: "small",
		metadata: providerOptions,
	});
	const text = { type: "text", text: "a" };
	const file = { type: "file", data: "aGk=", mediaType: "image/png" };
	expect(await showing({ type: "content", value: [text, text] })).toMatchObject({ output: "a\na" });
	expect(await showing({ type: "content", value: [text, file] })).toMatchObject({
		output: [text, { type: "image", source: { type: "base64", data: "aGk=" }, mimeType: "image/png" }],
	});
});
