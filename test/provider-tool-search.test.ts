// Tools that a provider searches: the provider receives what the AI SDK's own loop sends it, over several requests.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { searchable } from "@holdfast/context";
import { generateText, isStepCount, jsonSchema, tool } from "ai";
import { agent } from "holdfast";
import { describe, expect, test } from "vitest";

type Json = Record<string, unknown>;

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
const inputSchema = jsonSchema<Json>({ type: "object", properties: {}, additionalProperties: false });
const mail = tool({ description: "Sends a mail.", inputSchema, execute: async () => "Sent." });
const time = tool({ description: "Returns the time.", inputSchema, execute: async () => "Noon." });

const anthropic = (fetch?: typeof globalThis.fetch) =>
	createAnthropic({ apiKey: "k", ...(fetch && { fetch }) });
const openai = (fetch?: typeof globalThis.fetch) => createOpenAI({ apiKey: "k", ...(fetch && { fetch }) });
const said = { id: "m", type: "message", role: "assistant", model: "c", usage };
const providers = {
	anthropic: {
		modelOf: (fetch: typeof globalThis.fetch) => anthropic(fetch)("claude-sonnet-4-5"),
		search: anthropic().tools.toolSearchBm25_20251119(),
		replies: [
			{
				...said,
				stop_reason: "tool_use",
				content: [
					{ type: "server_tool_use", id: "srv_1", name: "tool_search_tool_bm25", input: { query: "mail" } },
					{
						type: "tool_search_tool_result",
						tool_use_id: "srv_1",
						content: {
							type: "tool_search_tool_search_result",
							tool_references: [{ type: "tool_reference", tool_name: "mail" }],
						},
					},
					{ type: "tool_use", id: "toolu_1", name: "mail", input: {} },
				],
			},
			{ ...said, stop_reason: "end_turn", content: [{ type: "text", text: "Sent." }] },
		],
	},
	openai: {
		modelOf: (fetch: typeof globalThis.fetch) => openai(fetch).responses("gpt-5.4"),
		search: openai().tools.toolSearch(),
		replies: [
			{
				id: "r1",
				created_at: 1,
				model: "g",
				usage,
				output: [
					{
						type: "tool_search_call",
						id: "ts_1",
						execution: "server",
						call_id: null,
						status: "completed",
						arguments: { paths: ["mail"] },
					},
					{
						type: "tool_search_output",
						id: "to_1",
						execution: "server",
						call_id: null,
						status: "completed",
						tools: [{ type: "function", name: "mail", parameters: {}, defer_loading: true }],
					},
					{
						type: "function_call",
						id: "fc_1",
						call_id: "call_1",
						name: "mail",
						arguments: "{}",
						status: "completed",
					},
				],
			},
			{
				id: "r2",
				created_at: 1,
				model: "g",
				usage,
				output: [
					{
						type: "message",
						role: "assistant",
						id: "msg",
						content: [{ type: "output_text", text: "Sent.", annotations: [] }],
					},
				],
			},
		],
	},
} as const;

describe.each(["anthropic", "openai"] as const)("%s", (name) => {
	const { modelOf, search, replies } = providers[name];
	const tools = searchable({ mail, time }, { always: ["time"], provider: search as never });

	test("searches deferred tools, and receives its own search with the next request", async () => {
		const theirs = recording(replies);
		const deferLoading = { [name]: { deferLoading: true } };
		await generateText({
			model: modelOf(theirs.fetch),
			tools: { mail: { ...mail, providerOptions: deferLoading }, time, search_tools: search as never },
			prompt: "go",
			stopWhen: isStepCount(3),
		});
		const ours = recording(replies);
		const clerk = agent({ model: modelOf(ours.fetch) as never, tools, cache: "off" });
		const { turn } = await clerk.generate("go");
		expect(turn.response.text).toBe("Sent.");
		expect(ours.bodies).toEqual(theirs.bodies);
		const [sent] = ours.bodies as [{ tools: { name?: string; defer_loading?: boolean }[] }];
		expect(sent.tools.filter(({ defer_loading: isDeferred }) => isDeferred === true)).toMatchObject([
			{ name: "mail" },
		]);
	});
});

test("a breakpoint of the prompt cache is never on a deferred tool", async () => {
	const { modelOf, search, replies } = providers.anthropic;
	const ours = recording(replies.slice(1));
	const tools = searchable({ time, mail }, { always: ["time"], provider: search as never });
	await agent({ model: modelOf(ours.fetch) as never, tools: tools as never }).generate("go");
	const [sent] = ours.bodies as [{ tools: { name: string; cache_control?: object }[] }];
	expect(sent.tools.filter((each) => each.cache_control !== undefined)).toMatchObject([{ name: "time" }]);
});

test.each([
	[{ provider: { type: "function", id: "openai.tool_search" } }],
	[{ provider: { type: "provider", id: "openai.web_search" } }],
	[{ provider: "auto" }],
	[{ provider: providers.openai.search, limit: 3 }],
])("refuses the options %o", (options) => {
	expect(() => searchable({ mail }, options as never)).toThrow(
		expect.objectContaining({ code: "invalid_option" }),
	);
});
