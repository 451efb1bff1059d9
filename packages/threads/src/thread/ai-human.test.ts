// An agent that talks to people: its turns, its tools, its limits.
import { expect, test } from "vitest";
import { z } from "zod";
import { defineTool } from "../define/index.ts";
import { oneAgent, said, say, scripted, start } from "./threads.fixture.ts";

const add = defineTool({
	description: "Adds.",
	args: z.object({ a: z.number(), b: z.number().default(1) }),
	execute: async (_state, { a, b }) => ({ status: "success", result: String(a + b) }),
});

test("a session is one turn, and no model is called until new work arrives [SA-003]", async () => {
	const provider = scripted(["Hello.", "Again."]);
	const { threads } = start(oneAgent(provider));
	const { threadId } = await threads.createThread({ agentId: "helper", message: "Hi" });
	await threads.quiet();
	expect(provider.requests).toHaveLength(1);
	expect(provider.requests[0]?.messages).toEqual([
		{ role: "system", content: "You help." },
		{ role: "user", content: "Hi" },
	]);
	await say(threads, threadId, "Once more");
	expect(provider.requests).toHaveLength(2);
	expect(await said(threads, threadId)).toEqual([
		"user: Hi",
		"assistant: Hello.",
		"user: Once more",
		"assistant: Again.",
	]);
	await threads.close();
});

test("text ends the turn, text with calls does not [SA-006]", async () => {
	const provider = scripted([
		{ text: "Let me see.", calls: [{ name: "add", args: { a: 1, b: 2 } }] },
		"Three.",
	]);
	const { threads } = start(oneAgent(provider, { tools: { add } }));
	const { threadId } = await threads.createThread({ agentId: "helper", message: "1 + 2?" });
	await threads.quiet();
	expect(await said(threads, threadId)).toEqual([
		"user: 1 + 2?",
		"assistant: Let me see. <add>",
		"tool: 3",
		"assistant: Three.",
	]);
	expect(provider.requests[1]?.messages.slice(2)).toEqual([
		{
			role: "assistant",
			content: "Let me see.",
			toolCalls: [{ id: "call_1_0", name: "add", arguments: { a: 1, b: 2 } }],
		},
		{ role: "tool", toolCallId: "call_1_0", toolName: "add", content: "3" },
	]);
	await threads.close();
});
