import { describe, expect, test } from "vitest";
import { AssistantMessage, ToolResultMessage, UserMessage } from "../messages/index.ts";
import type { StreamEvent } from "../stream/index.ts";
import { sumUsage } from "../turn/index.ts";
import { Answer } from "./answer.ts";
import { providerParts } from "./carried.ts";
import { dialectOf } from "./dialect.ts";
import { bindLanguageModel } from "./language-model.ts";
import { toUsage } from "./outcome.ts";
import { toPrompt } from "./prompt.ts";
import { promptMessage } from "./prompt-message.ts";
import { wireTools } from "./wire-tools.ts";

test("calls are in the order in which they started, regardless of which completes first", () => {
	const events: StreamEvent[] = [];
	const answer = new Answer((event) => events.push(event), "text");
	answer.take({ type: "tool-input-start", id: "a", toolName: "look" });
	answer.take({ type: "tool-input-start", id: "b", toolName: "look" });
	answer.take({ type: "tool-call", toolCallId: "b", toolName: "look", input: "{}" });
	answer.take({ type: "tool-call", toolCallId: "a", toolName: "look", input: "{}" });
	const { message } = answer.finish();
	expect(message.toolCalls?.map(({ toolCallId }) => toolCallId)).toEqual(["a", "b"]);
	expect(events.map(({ index, delta }) => [index, delta.toolCallId])).toEqual([
		[0, "a"],
		[1, "b"],
	]);
});

const properties = { $filter: { type: "string" }, top: { type: "number" } };
const search = {
	name: "search",
	description: "Searches.",
	parameters: { type: "object", properties, required: ["$filter"] },
	inputExamples: [{ input: { $filter: "a", top: 1 } }],
};

function dialectFor(provider: string) {
	const model = { specificationVersion: "v3", provider, modelId: "m" } as const;
	return dialectOf({ ...model, doGenerate: async () => ({}), doStream: async () => ({}) as never });
}

test.each(["anthropic.messages", "vertex.anthropic.messages", "amazon-bedrock"])(
	"%s sees other property names, and the call has the tool's own",
	(provider) => {
		const dialect = dialectFor(provider);
		const { tools, renamed } = wireTools([search], dialect);
		const [sent] = tools as [{ inputSchema: typeof search.parameters; inputExamples: { input: object }[] }];
		const [name = "", other] = Object.keys(sent.inputSchema.properties);
		expect(name).toMatch(/^_filter_[a-z0-9]{10}$/);
		expect(other).toBe("top");
		expect(sent.inputSchema.required).toEqual([name]);
		expect(sent.inputExamples).toEqual([{ input: { [name]: "a", top: 1 } }]);

		const events: StreamEvent[] = [];
		const answer = new Answer((event) => events.push(event), "text", renamed);
		const input = JSON.stringify({ [name]: "a", top: 1 });
		answer.take({ type: "tool-input-start", id: "c", toolName: "search" });
		answer.take({ type: "tool-input-delta", id: "c", delta: input });
		answer.take({ type: "tool-call", toolCallId: "c", toolName: "search", input });
		const { toolCalls = [] } = answer.finish().message;
		const own = { $filter: "a", top: 1 };
		expect(toolCalls).toMatchObject([{ toolName: "search", arguments: own }]);
		expect(events.map(({ delta }) => delta.argumentsJson)).toEqual([JSON.stringify(own)]);
		const said = promptMessage([new AssistantMessage("", toolCalls)], 0, dialect);
		expect(said.content).toMatchObject([{ type: "tool-call", input: { [name]: "a", top: 1 } }]);
	},
);

test("a provider that accepts any property name sees the tool's own", () => {
	const { tools, renamed } = wireTools([search], dialectFor("openai.responses"));
	expect(tools).toMatchObject([{ inputSchema: search.parameters, inputExamples: search.inputExamples }]);
	expect(renamed.size).toBe(0);
});

test("reasoning tokens are counted, as in each version of the AI SDK, and add up", () => {
	const nested = toUsage({ inputTokens: { total: 5 }, outputTokens: { total: 9, reasoning: 4 } });
	const flat = toUsage({ inputTokens: 5, outputTokens: 9, reasoningTokens: 2 });
	expect(nested.reasoningTokens).toBe(4);
	expect(sumUsage(nested, flat).reasoningTokens).toBe(6);
	expect(toUsage({ inputTokens: 5, outputTokens: 9, reasoningTokens: 0 })).not.toHaveProperty(
		"reasoningTokens",
	);
});

describe("a turn that its provider pauses", () => {
	const usage = { inputTokens: { total: 5 }, outputTokens: { total: 2 } };
	const search = { toolCallId: "w", toolName: "web_search" };
	const paused = [
		{ type: "text-start", id: "0" },
		{ type: "text-delta", id: "0", delta: "I search." },
		{ type: "text-end", id: "0" },
		{ type: "tool-call", ...search, input: "{}", providerExecuted: true },
		{ type: "finish", usage, finishReason: { unified: "stop", raw: "pause_turn" } },
	];
	const ended = [
		{ type: "tool-result", ...search, result: { hits: 1 } },
		{ type: "text-start", id: "0" },
		{ type: "text-delta", id: "0", delta: "Found." },
		{ type: "text-end", id: "0" },
		{ type: "finish", usage, finishReason: { unified: "stop", raw: "end_turn" } },
	];

	function playing(replies: readonly (readonly object[])[]) {
		const prompts: { readonly role: string; readonly content: unknown }[][] = [];
		const next = (options: { readonly prompt: (typeof prompts)[number] }) => {
			const parts = replies[Math.min(prompts.length, replies.length - 1)] ?? [];
			prompts.push(options.prompt);
			return parts;
		};
		const model = bindLanguageModel({
			specificationVersion: "v3",
			provider: "anthropic.messages",
			modelId: "m",
			doGenerate: async (options) => {
				const parts = next(options) as { readonly type: string; readonly delta?: string }[];
				const content = parts.flatMap((part) =>
					part.type === "text-delta"
						? [{ type: "text", text: part.delta }]
						: part.type.startsWith("tool")
							? [part]
							: [],
				);
				return { ...parts.at(-1), content };
			},
			doStream: async (options) => ({
				stream: new ReadableStream({
					start(controller) {
						for (const part of next(options)) controller.enqueue(part);
						controller.close();
					},
				}),
			}),
		});
		return { model, prompts };
	}

	const request = { messages: [new UserMessage("q")], config: {} };

	test.each(["streamed", "whole"] as const)("is continued, and is one answer, %s", async (way) => {
		const { model, prompts } = playing([paused, paused, ended]);
		const response = way === "whole" ? await model.complete(request) : await model.stream(request).response;
		expect(prompts.map((prompt) => prompt.map(({ role }) => role))).toEqual([
			["user"],
			["user", "assistant"],
			["user", "assistant"],
		]);
		expect(prompts[1]?.[1]?.content).toMatchObject([
			{ type: "text", text: "I search." },
			{ type: "tool-call", toolName: "web_search", providerExecuted: true },
		]);
		expect(response.stopReason).toBe("stop");
		expect(response.message.content).toMatchObject([
			{ text: "I search." },
			{ text: "I search." },
			{ text: "Found." },
		]);
		expect(providerParts(response.message).map(({ at, part }) => [at, part.type])).toEqual([
			[1, "call"],
			[2, "call"],
			[2, "result"],
		]);
		expect(response.usage).toMatchObject({ inputTokens: 15, outputTokens: 6 });
	});

	test("ends with its partial text if the pauses do not end", async () => {
		const { model, prompts } = playing([paused]);
		await model.complete(request);
		expect(prompts).toHaveLength(33);
	});
});

test("a provider's approval request for its own tool is a call that its result answers", () => {
	const answer = new Answer(() => {}, "text");
	const providerMetadata = { p: { itemId: "i" } };
	const call = { toolCallId: "c", toolName: "mcp.ask", input: '{"at":1}', providerExecuted: true };
	answer.take({ type: "tool-call", ...call, providerMetadata });
	answer.take({ type: "tool-approval-request", approvalId: "a", toolCallId: "c" });
	answer.take({ type: "finish", finishReason: { unified: "stop" } });
	const { message, stopReason } = answer.finish();
	expect(stopReason).toBe("tool_calls");
	const asked = { toolCallId: "c", toolName: "mcp.ask", arguments: { at: 1 }, approvalId: "a" };
	expect(message.toolCalls).toEqual([{ ...asked, metadata: providerMetadata }]);
	const dialect = dialectOf({ provider: "p", modelId: "m", specificationVersion: "v4" } as never);
	const after = (entry: object) =>
		toPrompt(
			[new UserMessage("Go."), message, new ToolResultMessage([{ toolCallId: "c", ...entry } as never])],
			undefined,
			dialect,
		).slice(1);
	const said = { type: "tool-call", toolCallId: "c", toolName: "mcp.ask", input: { at: 1 } };
	const question = { ...said, providerExecuted: true, providerOptions: providerMetadata };
	const response = { type: "tool-approval-response", approvalId: "a" };
	expect(after({ result: "yes" })).toEqual([
		{ role: "assistant", content: [question] },
		{ role: "tool", content: [{ ...response, approved: true }] },
	]);
	expect(after({ result: "no", isError: true, denied: true }).at(-1)).toEqual({
		role: "tool",
		content: [{ ...response, approved: false, reason: "no" }],
	});
});

test("an approval request for an unknown call is malformed", () => {
	const answer = new Answer(() => {}, "text");
	const asked = { type: "tool-approval-request", approvalId: "a", toolCallId: "c" };
	expect(() => answer.take(asked)).toThrow(TypeError);
});
