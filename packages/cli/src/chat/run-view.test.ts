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
	expect(transcript.live.calls[0]?.inner).toContain("▸ worker: Find the lamp.");
});
