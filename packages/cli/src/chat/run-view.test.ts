import { AssistantMessage } from "@holdfast/upp";
import type { RunEvent } from "holdfast";
import { expect, test } from "vitest";
import { Transcript } from "./chat-transcript.ts";
import { RunView } from "./run-view.ts";

test("an answer that replaces the streamed one follows it, with a note", () => {
	const transcript = new Transcript();
	const view = new RunView(transcript, "here");
	const message = (text: string): RunEvent => ({
		type: "message",
		at: 0,
		seq: 2,
		sub: 0,
		step: 1,
		tag: "act",
		message: new AssistantMessage(text),
		usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
		stopReason: "stop",
		modelId: "m",
		duration: 0,
	});
	view.event(message("Hello."));
	view.event({ ...message("Hello, signed."), replaces: "m1" } as RunEvent);
	view.end();
	expect(transcript.entriesAfter(0).map((entry) => "text" in entry && entry.text)).toEqual([
		"Hello.",
		"The answer above was replaced by this one:",
		"\n",
		"Hello, signed.",
	]);
});

test("reasoning is shown while the model streams it, and can be opened afterwards", () => {
	const transcript = new Transcript();
	const view = new RunView(transcript, "here");
	const delta = (type: string, text: string) =>
		view.event({ type: "model", event: { type, index: 0, delta: { text } } } as never);
	delta("reasoning_delta", "Which lamp? ");
	delta("reasoning_delta", "The green one.");
	expect(transcript.live.thought).toBe("Which lamp? The green one.");
	delta("text_delta", "It is green.");
	expect(transcript.live.thought).toBe("");
	expect(transcript.openables).toEqual([
		{ title: expect.stringMatching(/^Thought for /), text: "Which lamp? The green one." },
	]);
});

test("the activity of a sub-agent is shown below its call", () => {
	const transcript = new Transcript();
	const view = new RunView(transcript, "here");
	const call = { toolCallId: "c", toolName: "delegate_to_worker", arguments: {} };
	view.event({ type: "tool_start", call, input: {}, attempt: 1 } as never);
	const event = { type: "subagent_start", subagentType: "worker", prompt: "Find the lamp." };
	view.event({ type: "nested", toolCallId: "c", event } as never);
	expect(transcript.live.calls[0]?.inner).toEqual(["  ▸ worker: Find the lamp."]);
	expect(transcript.entriesAfter(0)).toEqual([]);
	view.event({
		type: "tool_end",
		toolName: call.toolName,
		call,
		outcome: "done",
		result: "Found.",
		duration: 5,
	} as never);
	expect(transcript.entriesAfter(0)).toMatchObject([
		{ kind: "tool", head: "delegate_to_worker", isDone: true },
		{ kind: "note", text: "  ▸ worker: Find the lamp." },
	]);
	expect(transcript.openables[0]?.text).toContain("▸ worker: Find the lamp.\n\nFound.");
});

test("the calls of a workflow are shown while they run, and then with their outcome", () => {
	const transcript = new Transcript();
	const view = new RunView(transcript, "here");
	const note = (topic: string, value: object, at: number): void =>
		view.event({ type: "note", topic, value, at, seq: 1, sub: 0, step: 1 } as never);
	note("workflow-called", { id: "reserve", does: "step" }, 1_000);
	expect(transcript.live.calls).toMatchObject([{ text: "reserve" }]);
	note("workflow-settled", { id: "reserve", value: "lamp" }, 2_500);
	note("workflow-called", { id: "pay", does: "step" }, 2_500);
	note("workflow-retried", { id: "pay", attempt: 1, error: { message: "busy" } }, 2_600);
	note("workflow-settled", { id: "pay", error: { code: "x", message: "The box is broken." } }, 2_700);
	expect(transcript.live.calls).toEqual([]);
	expect(transcript.entriesAfter(0)).toMatchObject([
		{ kind: "tool", mark: "✓", head: "reserve", tail: expect.stringMatching(/^ · 1\.5 s · .*lamp/) },
		{ kind: "note", text: "  pay failed in attempt 1, trying again: busy" },
		{ kind: "tool", mark: "✗", head: "pay", isDone: false, tail: expect.stringContaining("broken") },
	]);
});
