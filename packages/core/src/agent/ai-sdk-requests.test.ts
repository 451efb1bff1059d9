// What the provider receives for the AI SDK's tools, compared with what the AI SDK's own loop sends: the same body.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, isStepCount, jsonSchema, tool } from "ai";
import { describe, expect, test } from "vitest";
import { agent } from "./agent.ts";

type Json = Record<string, unknown>;

/** Replies in order, and the bodies of the requests. */
function recording(replies: readonly Json[]): { bodies: Json[]; fetch: typeof globalThis.fetch } {
	const bodies: Json[] = [];
	const fetch = (async (_url: unknown, init: { body: string }) => {
		const reply = replies[Math.min(bodies.length, replies.length - 1)];
		bodies.push(JSON.parse(init.body));
		return Response.json(reply);
	}) as unknown as typeof globalThis.fetch;
	return { bodies, fetch };
}

const usage = { input_tokens: 5, output_tokens: 3 };
const said = { id: "m", type: "message", role: "assistant", model: "c", stop_reason: "end_turn", usage };
const anthropicText = { ...said, content: [{ type: "text", text: "ok" }] };
const calling = (name: string, input: Json) => ({
	...said,
	stop_reason: "tool_use",
	content: [{ type: "tool_use", id: "toolu_1", name, input }],
});
const openaiText = {
	id: "r",
	created_at: 1,
	model: "g",
	output: [
		{
			type: "message",
			role: "assistant",
			id: "msg",
			content: [{ type: "output_text", text: "ok", annotations: [] }],
		},
	],
	usage,
};

async function bothAsk(
	replies: readonly Json[],
	modelOf: (fetch: typeof globalThis.fetch) => Parameters<typeof generateText>[0]["model"],
	tools: Json,
): Promise<[Json[], Json[]]> {
	const theirs = recording(replies);
	const options = {
		model: modelOf(theirs.fetch),
		tools: tools,
		prompt: "go",
		stopWhen: isStepCount(3),
	};
	await generateText(options as unknown as Parameters<typeof generateText>[0]);
	const ours = recording(replies);
	await agent({ model: modelOf(ours.fetch) as never, tools: tools as never, cache: "off" }).generate("go");
	return [ours.bodies, theirs.bodies];
}

const openai = (fetch: typeof globalThis.fetch) => createOpenAI({ apiKey: "k", fetch }).responses("gpt-5.2");
const anthropic = (fetch: typeof globalThis.fetch) =>
	createAnthropic({ apiKey: "k", fetch })("claude-sonnet-4-5");
const inputSchema = jsonSchema<Json>({
	type: "object",
	properties: { q: { type: "string" } },
	required: ["q"],
	additionalProperties: false,
});

describe("a tool of the AI SDK is sent exactly as the SDK's own loop sends it", () => {
	test("with strictness, examples and options for its provider", async () => {
		const find = tool({
			description: "Finds.",
			inputSchema,
			strict: true,
			inputExamples: [{ input: { q: "a" } }],
			providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } },
			execute: async () => "found",
		});
		for (const [model, reply] of [
			[openai, openaiText],
			[anthropic, anthropicText],
		] as const) {
			const [ours, theirs] = await bothAsk([reply], model, { find });
			expect(ours).toEqual(theirs);
			expect(JSON.stringify(ours)).toContain(model === openai ? '"strict":true' : "ephemeral");
		}
	});

	test("when its provider runs it", async () => {
		const { webSearch } = createOpenAI({ apiKey: "k" }).tools;
		const [ours, theirs] = await bothAsk([openaiText], openai, {
			web_search: webSearch({ searchContextSize: "low" }),
		});
		expect(ours).toEqual(theirs);
		expect(ours[0]?.tools).toEqual([
			expect.objectContaining({ type: "web_search", search_context_size: "low" }),
		]);
	});

	test("when its provider defines it and it runs locally", async () => {
		const ran: unknown[] = [];
		const bash = createAnthropic({ apiKey: "k" }).tools.bash_20250124({
			execute: async (input) => {
				ran.push(input);
				return "3 files";
			},
		});
		const replies = [calling("bash", { command: "ls" }), anthropicText];
		const [ours, theirs] = await bothAsk(replies, anthropic, { bash });
		expect(ours).toEqual(theirs);
		expect(ran).toEqual([{ command: "ls" }, { command: "ls" }]);
	});

	const png = "iVBORw0KGgo=";
	test.each([
		[
			"text",
			{ type: "text", text: "seen", providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } } },
		],
		["a file of base64", { type: "file", data: { type: "data", data: png }, mediaType: "image/png" }],
		[
			"a file of bytes",
			{ type: "file", data: { type: "data", data: new Uint8Array([1, 2]) }, mediaType: "image/png" },
		],
		[
			"an address",
			{
				type: "file",
				data: { type: "url", url: new URL("https://example.com/a.png") },
				mediaType: "image/png",
			},
		],
		[
			"a document",
			{
				type: "file",
				data: { type: "data", data: "JVBERi0xLjQ=" },
				mediaType: "application/pdf",
				filename: "a.pdf",
			},
		],
		["image data of an older version", { type: "image-data", data: png, mediaType: "image/png" }],
	])("with an output that is %s", async (_name, part) => {
		const look = tool({
			description: "Looks.",
			inputSchema,
			execute: async () => "raw",
			toModelOutput: () => ({ type: "content", value: [{ type: "text", text: "here" }, part] }) as never,
		});
		const [ours, theirs] = await bothAsk([calling("look", { q: "a" }), anthropicText], anthropic, { look });
		expect(ours[1]?.messages).toEqual(theirs[1]?.messages);
	});

	const cached = { anthropic: { cacheControl: { type: "ephemeral" } } };
	test.each([
		["a denial with a reason", { type: "execution-denied", reason: "Ask the owner." }],
		["a denial without a reason", { type: "execution-denied" }],
		["text with options for its provider", { type: "text", value: "seen", providerOptions: cached }],
		["data with options for its provider", { type: "json", value: { a: 1 }, providerOptions: cached }],
		["an error with options for its provider", { type: "error-text", value: "no", providerOptions: cached }],
	])("with a whole output that is %s", async (_name, output) => {
		const look = tool({
			description: "Looks.",
			inputSchema,
			execute: async () => "raw",
			toModelOutput: () => output as never,
		});
		const [ours, theirs] = await bothAsk([calling("look", { q: "a" }), anthropicText], anthropic, { look });
		expect(ours[1]?.messages).toEqual(theirs[1]?.messages);
	});
});
