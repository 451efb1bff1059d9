// Recorded streams of real providers, next to the AI SDK's `streamText`: the same request, and the same answer.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { jsonSchema, streamText, type ToolSet, tool } from "ai";
import { describe, expect, test } from "vitest";
import { agent } from "./agent.ts";

const folder = process.env.HOLDFAST_RECORDINGS;
const title = `a recorded stream${folder === undefined ? " (skipped: HOLDFAST_RECORDINGS is not set)" : ""}`;

type Fetch = typeof globalThis.fetch;
const apiKey = "key";
const providers = {
	anthropic: (fetch: Fetch) => createAnthropic({ apiKey, fetch })("claude-sonnet-4-5"),
	google: (fetch: Fetch) => createGoogleGenerativeAI({ apiKey, fetch })("gemini-3-pro"),
	"openai-chat": (fetch: Fetch) => createOpenAI({ apiKey, fetch }).chat("gpt-5.2"),
	"openai-compatible": (fetch: Fetch) =>
		createOpenAICompatible({
			name: "deepseek",
			baseURL: "http://localhost/v1",
			apiKey,
			fetch,
			includeUsage: true,
		})("any"),
};

/** Replays the recorded stream, and keeps the bodies of the requests. */
function playing(name: string): { readonly bodies: unknown[]; readonly fetch: Fetch } {
	const bodies: unknown[] = [];
	const payloads = readFileSync(join(folder ?? "", `${name}.chunks.txt`), "utf8")
		.split("\n")
		.filter((line) => line.trim() !== "");
	const isAnthropic = name.startsWith("anthropic");
	const records = payloads.map(
		(payload) => `${isAnthropic ? `event: ${JSON.parse(payload).type}\n` : ""}data: ${payload}\n\n`,
	);
	const body = records.join("") + (name.startsWith("openai") ? "data: [DONE]\n\n" : "");
	const fetch = (async (_url: unknown, init: { readonly body: string }) => {
		bodies.push(JSON.parse(init.body));
		return new Response(body, { headers: { "content-type": "text/event-stream" } });
	}) as unknown as Fetch;
	return { bodies, fetch };
}

const reasons = {
	stop: "stop",
	length: "length",
	"tool-calls": "tool_calls",
	"content-filter": "content_filter",
};
const system = "Be brief.";
const parameters = { type: "object", properties: { location: { type: "string" } } } as const;

describe.skipIf(folder === undefined)(title, () => {
	test.each([
		["anthropic", "text"],
		["anthropic", "thinking"],
		["anthropic", "tool-call"],
		["anthropic", "tool-no-args"],
		["anthropic", "refusal"],
		["google", "text"],
		["google", "reasoning"],
		["google", "tool-call"],
		["openai-chat", "text"],
		["openai-compatible", "deepseek-tool-call"],
		["openai-compatible", "reasoning"],
		["openai-compatible", "tool-call"],
	] as const)("of %s (%s) is requested and read as in streamText", async (provider, what) => {
		const modelOf = providers[provider];
		const theirs = playing(`${provider}-${what}`);
		const names = ["weather", "updateIssueList", "read_file", "get_weather"];
		const sdkTools = Object.fromEntries(
			names.map((name) => [name, tool({ description: "d", inputSchema: jsonSchema(parameters) })]),
		);
		const read = streamText({
			model: modelOf(theirs.fetch),
			system,
			prompt: "go",
			tools: sdkTools as unknown as ToolSet,
			onError() {},
		});
		const [text, reasoning, toolCalls, usage, finishReason] = await Promise.all([
			read.text,
			read.reasoningText,
			read.toolCalls,
			read.usage,
			read.finishReason,
		]);

		const ours = playing(`${provider}-${what}`);
		const model = modelOf(ours.fetch) as never;
		const tools = names.map((name) => ({ name, description: "d", parameters, run: () => "done" }));
		const stream = agent({
			model,
			system,
			tools,
			cache: "off",
			strategy: { stopCondition: () => true },
		}).stream("go");
		for await (const _ of stream);
		const { turn, stopReason } = await stream.result;
		const answer = turn.messages.find(({ type }) => type === "assistant") as never as {
			readonly content: readonly { readonly type: string; readonly text?: string }[];
			readonly text: string;
			readonly toolCalls?: readonly { readonly toolName: string; readonly arguments: unknown }[];
		};

		expect(ours.bodies[0]).toEqual(theirs.bodies[0]);
		expect(answer.text).toBe(text);
		const thought = answer.content.flatMap((block) => (block.type === "reasoning" ? [block.text] : []));
		expect(thought.join("")).toBe(reasoning ?? "");
		expect((answer.toolCalls ?? []).map(({ toolName, arguments: input }) => ({ toolName, input }))).toEqual(
			toolCalls.map(({ toolName, input }) => ({ toolName, input })),
		);
		const { inputTokens, outputTokens, cacheReadTokens, reasoningTokens } = turn.usage;
		expect({
			inputTokens,
			outputTokens,
			cached: cacheReadTokens ?? 0,
			reasoning: reasoningTokens ?? 0,
		}).toEqual({
			inputTokens: usage.inputTokens ?? 0,
			outputTokens: usage.outputTokens ?? 0,
			cached: usage.inputTokenDetails.cacheReadTokens ?? 0,
			reasoning: usage.outputTokenDetails.reasoningTokens ?? 0,
		});
		expect(stopReason).toBe(reasons[finishReason as keyof typeof reasons] ?? finishReason);
	});
});
