import { validateUIMessages } from "ai";
import type { SessionMessage } from "holdfast";
import { expect, test } from "vitest";
import { chatHistory } from "./chat-history.ts";

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
const about = { id: "a", model: "m", usage, timestamp: 0, stopReason: "stop" } as const;
const call = { type: "toolCall", name: "add", arguments: { a: 1 } } as const;
const user: SessionMessage = { role: "user", id: "u", content: "Hi" };
const answer: SessionMessage = {
	role: "assistant",
	...about,
	content: [
		{ type: "thinking", thinking: "Hm." },
		{ type: "text", text: "I add." },
		{ ...call, id: "c1" },
		{ ...call, id: "c2" },
	],
};
const resultOf = (toolCallId: string, output: string, isError = false): SessionMessage => ({
	role: "tool",
	toolCallId,
	toolName: "add",
	output,
	isError,
	timestamp: 0,
});

test("the answer to one user message is one message, which the AI SDK accepts", async () => {
	const last: SessionMessage = { role: "assistant", ...about, content: [{ type: "text", text: "Done." }] };
	const messages = chatHistory([
		user,
		answer,
		resultOf("c1", '{"sum":1}'),
		resultOf("c2", "No.", true),
		last,
		{
			role: "user",
			id: "v",
			content: [
				{ type: "text", text: "And this?" },
				{ type: "image", image: "aGk=", mediaType: "image/png" },
				{ type: "file", data: "aGk=", mediaType: "text/plain", filename: "hi.txt" },
			],
		},
	]);
	expect(messages.map(({ id }) => id)).toEqual(["u", "u.answer", "v"]);
	expect(messages[1]?.parts.map(({ type }) => type)).toEqual([
		"step-start",
		"reasoning",
		"text",
		"tool-add",
		"tool-add",
		"step-start",
		"text",
	]);
	expect(messages[1]?.parts.slice(3, 5)).toMatchObject([
		{ state: "output-available", output: { sum: 1 } },
		{ state: "output-error", errorText: "No." },
	]);
	expect(messages[2]?.parts).toMatchObject([
		{ type: "text", text: "And this?" },
		{ type: "file", mediaType: "image/png", url: "data:image/png;base64,aGk=" },
		{ type: "file", mediaType: "text/plain", url: "data:text/plain;base64,aGk=", filename: "hi.txt" },
	]);
	await expect(validateUIMessages({ messages })).resolves.toHaveLength(3);
});

test("waiting calls show what they wait for", async () => {
	const pending = { name: "add", arguments: { a: 1 } };
	const messages = chatHistory(
		[user, answer],
		[
			{ ...pending, id: "c1" },
			{ ...pending, id: "c2", approval: true },
		],
	);
	expect(messages[1]?.parts.slice(3)).toEqual([
		{ type: "tool-add", toolCallId: "c1", input: { a: 1 }, state: "input-available" },
		{
			type: "tool-add",
			toolCallId: "c2",
			input: { a: 1 },
			state: "approval-requested",
			approval: { id: "c2" },
		},
	]);
	await expect(validateUIMessages({ messages })).resolves.toHaveLength(2);
});

test("interrupted output is shown, unless it was generated again", () => {
	const partial = { role: "assistant", ...about, content: [{ type: "text", text: "I wi" }] } as const;
	const cut: SessionMessage = { role: "error", error: "cut", code: "interrupted", partial, timestamp: 0 };
	expect(chatHistory([user, cut])[1]?.parts).toMatchObject([{ type: "step-start" }, { text: "I wi" }]);
	expect(chatHistory([user, cut, answer])[1]?.parts).not.toContainEqual(
		expect.objectContaining({ text: "I wi" }),
	);
	expect(chatHistory([user, { role: "aborted", timestamp: 0 }])).toHaveLength(1);
});
