import type { LoggedEvent } from "holdfast/execute";
import { expect, test } from "vitest";
import { type CallsKnown, ChatProjection } from "./chat-projection.ts";
import type { UiChunk } from "./ui-chunk.ts";

type Event = LoggedEvent["event"];

function project(events: readonly Event[], known?: CallsKnown): readonly UiChunk[] {
	const projection = new ChatProjection(known);
	return events.flatMap((event, index) => projection.add({ id: `${index}.0.0`, event }));
}

const typesOf = (chunks: readonly UiChunk[]): readonly string[] => chunks.map(({ type }) => type);
const toolCall = { id: "c", name: "add", arguments: { a: 1 } };
const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
const assistant = { role: "assistant", id: "a", content: [], model: "m", usage, timestamp: 0 } as const;
const begin: readonly Event[] = [
	{ type: "session_start", sessionId: "s" },
	{ type: "message_start", role: "user" },
	{ type: "message_end", message: { role: "user", id: "u", content: "Hi" } },
	{ type: "message_start", role: "assistant" },
];
const called: readonly Event[] = [
	...begin,
	{ type: "toolcall_start", index: 0, id: "c", name: "add" },
	{ type: "toolcall_delta", index: 0, delta: '{"a":1}' },
	{ type: "toolcall_end", index: 0, toolCall },
	{ type: "message_end", message: { ...assistant, stopReason: "tool_calls" } },
];
const waits = (approval?: true): Event => ({
	type: "awaiting_tool_execution",
	sessionId: "s",
	toolCalls: [{ ...toolCall, ...(approval === undefined ? {} : { approval }) }],
});
const result = (output: string, isError = false): Event => ({
	type: "message_end",
	message: { role: "tool", toolCallId: "c", toolName: "add", output, isError, timestamp: 0 },
});

test("the message is named after the user's, and its parts after the events that start them", () => {
	const chunks = project([
		...begin,
		{ type: "text_start" },
		{ type: "text_delta", delta: "Hello" },
		{ type: "text_end", text: "Hello" },
		{ type: "message_end", message: { ...assistant, stopReason: "length" } },
		{ type: "execute_complete", status: "completed", stopReason: "length" },
	]);
	expect(chunks).toEqual([
		{ type: "start", messageId: "u.answer" },
		{ type: "start-step" },
		{ type: "text-start", id: "4.0.0" },
		{ type: "text-delta", id: "4.0.0", delta: "Hello" },
		{ type: "text-end", id: "4.0.0" },
		{ type: "finish-step" },
		{ type: "finish", finishReason: "length" },
	]);
});

test("partial output of a model is removed when the model answers again", () => {
	const failed: Event = {
		type: "message_end",
		message: { role: "error", error: "cut", code: "interrupted", timestamp: 0 },
	};
	const again: readonly Event[] = [{ type: "message_start", role: "assistant" }, { type: "text_start" }];
	const cut = project([...begin, { type: "text_start" }, { type: "text_end", text: "" }, failed, ...again]);
	expect(typesOf(cut).slice(2)).toEqual(["text-start", "text-end", "reset-step", "text-start"]);
	// An attempt that had not begun to answer takes nothing away.
	const settled = project([...called, result("1"), failed, ...again]);
	expect(typesOf(settled).slice(-4)).toEqual([
		"tool-output-available",
		"finish-step",
		"start-step",
		"text-start",
	]);
});

test("a call's input is streamed, and available once its executor is known", () => {
	expect(typesOf(project(called)).slice(2)).toEqual(["tool-input-start", "tool-input-delta"]);
	const input = { type: "tool-input-available", toolCallId: "c", toolName: "add", input: { a: 1 } };
	const runs: Event = { type: "tool_execution_start", toolCallId: "c", toolName: "add", args: { a: 1 } };
	expect(project([...called, runs]).at(-1)).toEqual({ ...input, providerExecuted: true });
	expect(project([...called, waits()]).at(-1)).toEqual(input);
	expect(project([...called, waits()], { answered: new Set(["c"]) }).at(-1)).toEqual({
		...input,
		providerExecuted: true,
	});
	// Waiting a second time emits nothing new.
	expect(project([...called, waits(), waits()])).toEqual(project([...called, waits()]));
});

test("a call whose id is not known before its end is emitted at its end", () => {
	const events: readonly Event[] = [
		...begin,
		{ type: "toolcall_start", index: 0 },
		{ type: "toolcall_delta", index: 0, delta: "{}" },
		{ type: "toolcall_end", index: 0, toolCall },
	];
	expect(project(events).slice(2)).toEqual([{ type: "tool-input-start", toolCallId: "c", toolName: "add" }]);
});

test("an approval is requested once, and granted when the call runs", () => {
	const runs: Event = { type: "tool_execution_start", toolCallId: "c", toolName: "add", args: {} };
	expect(typesOf(project([...called, waits(true), waits(true), runs])).slice(4)).toEqual([
		"tool-input-available",
		"tool-approval-request",
		"tool-approval-response",
	]);
	const denied = project([...called, waits(true), result("No.", true)], { denied: new Set(["c"]) });
	expect(denied.at(-1)).toEqual({ type: "tool-output-denied", toolCallId: "c" });
});

test("a call that runs on the server is shown with its tool's input", () => {
	const runs: Event = { type: "tool_execution_start", toolCallId: "c", toolName: "add", args: { a: 9 } };
	expect(project([...called, runs]).at(-1)).toMatchObject({ type: "tool-input-available", input: { a: 9 } });
});

test("a tool's output is emitted while it runs, and once when it has ended", () => {
	const runs: readonly Event[] = [
		...called,
		{ type: "tool_execution_start", toolCallId: "c", toolName: "add", args: {} },
		{ type: "tool_execution_delta", toolCallId: "c", delta: "one " },
		{ type: "tool_execution_delta", toolCallId: "c", delta: "x".repeat(5_000) },
		{ type: "tool_execution_end", toolCallId: "c", output: '{"sum":1}' },
		result('{"sum":1}'),
	];
	const outputs = project(runs).flatMap((chunk) => (chunk.type === "tool-output-available" ? [chunk] : []));
	expect(outputs).toEqual([
		{ type: "tool-output-available", toolCallId: "c", output: "one ", preliminary: true },
		{ type: "tool-output-available", toolCallId: "c", output: "x".repeat(4_096), preliminary: true },
		{ type: "tool-output-available", toolCallId: "c", output: { sum: 1 } },
	]);
	const failed = project([...called, result("[broken", true)]);
	expect(failed.at(-1)).toEqual({ type: "tool-output-error", toolCallId: "c", errorText: "[broken" });
	expect(project([...called, result("[broken")]).at(-1)).toMatchObject({ output: "[broken" });
});

test.each([
	["awaiting_tool_execution", ["finish-step", "finish"], "tool-calls"],
	["error", ["finish-step", "finish"], "error"],
	["aborted", ["finish-step", "abort", "finish"], "interrupted"],
	["completed", ["finish-step", "finish"], "stop"],
] as const)("an execution that is %s ends the stream", (status, types, finishReason) => {
	const chunks = project([...begin, { type: "execute_complete", status }]);
	expect(typesOf(chunks).slice(2)).toEqual(types);
	expect(chunks.at(-1)).toEqual({ type: "finish", finishReason });
});

test.each([
	[{ status: "completed", stopReason: "length" }, "length"],
	[{ status: "completed", stopReason: "tool_calls" }, "tool-calls"],
	[{ status: "completed", stopReason: "content_filter" }, "content-filter"],
	[{ status: "completed", stopReason: "error" }, "error"],
	[{ status: "completed", stopReason: "other" }, "other"],
	[{ status: "error", error: { code: "content_filtered", message: "Refused." } }, "content-filter"],
] as const)("a model that stopped as in %j finishes with %s", (complete, finishReason) => {
	const chunks = project([...begin, { type: "execute_complete", ...complete }]);
	expect(chunks.at(-1)).toEqual({ type: "finish", finishReason });
});
