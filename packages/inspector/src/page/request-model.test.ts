import { describe, expect, test } from "vitest";
import type { ShownStep } from "../wire/index.ts";
import { chatOf, contextOf, requestCurlOf, verdictOf } from "./request-model.ts";

const request: ShownStep["request"] = {
	model: "openai:gpt-9",
	system: "Be brief.",
	tools: [{ name: "add", description: "Adds.", parameters: { type: "object" } }],
	params: { temperature: 0, maxTokens: 50, toolChoice: "auto" },
	messages: [
		{ type: "user", content: [{ type: "text", text: "It's 1 + 2?" }] },
		{
			type: "assistant",
			content: [],
			toolCalls: [{ toolCallId: "c", toolName: "add", arguments: { a: 1 } }],
		},
		{ type: "tool_result", results: [{ toolCallId: "c", result: { sum: 3 } }] },
		{ type: "assistant", content: [{ type: "text", text: "It is 3." }] },
	],
};
const same = { model: "same", instructions: "same", tools: "same", messages: "same" } as const;
const reply = { seq: 4, at: 0, runId: "r", kind: "assistant", body: {} };

describe("the verdict on a request", () => {
	const state = (more: Partial<ShownStep>) => verdictOf({ request, reply, parts: same, ...more }).state;

	test("is verified only if every part is as sent", () => {
		expect(state({})).toBe("verified");
		for (const name of ["instructions", "tools", "messages"] as const) {
			expect(state({ parts: { ...same, [name]: "differs" } })).toBe("differs");
			expect(state({ parts: { ...same, [name]: "unknown" } })).toBe("unknown");
		}
		expect(state({ strategy: { prompt: "hash" } })).toBe("differs");
		expect(state({ strategy: { tools: "withheld" } })).toBe("verified");
	});

	test("names the parts that differ, and what is not on record", () => {
		const { text } = verdictOf({ request, reply, parts: { ...same, tools: "differs" } });
		expect(text).toContain("other tools than shown");
		expect(text).toContain("Parameters are not recorded");
		expect(verdictOf({ request, reply, parts: same, prepared: ["params"] }).text).toContain(
			"`prepareStep` changed params",
		);
	});
});

test("what fills a request is counted by origin, and adds up", () => {
	expect(contextOf(request)).toEqual([
		{ name: "instructions", count: 1, characters: 9 },
		{ name: "tools", count: 1, characters: 69 },
		{ name: "user", count: 1, characters: 11 },
		{ name: "model", count: 2, characters: 18 },
		{ name: "results", count: 1, characters: 9 },
	]);
	expect(contextOf({ model: "m", messages: [] })).toEqual([]);
});

test("a request becomes a chat completion, and a command that the shell reads as one", () => {
	expect(chatOf(request)).toMatchObject({
		model: "gpt-9",
		temperature: 0,
		max_tokens: 50,
		messages: [
			{ role: "system", content: "Be brief." },
			{ role: "user", content: "It's 1 + 2?" },
			{ role: "assistant", tool_calls: [{ id: "c", function: { name: "add", arguments: '{"a":1}' } }] },
			{ role: "tool", tool_call_id: "c", content: '{"sum":3}' },
			{ role: "assistant", content: "It is 3." },
		],
		tools: [{ type: "function", function: { name: "add" } }],
	});
	expect(requestCurlOf(request)).toContain(`It'\\''s 1 + 2?`);
});
