import { AssistantMessage } from "@holdfast/upp";
import type { RunEvent } from "holdfast";
import { expect, test } from "vitest";
import { Transcript } from "./chat-transcript.ts";
import { RunView } from "./run-view.ts";

test("an answer that replaces the streamed one follows it, with a note", () => {
	const transcript = new Transcript();
	const view = new RunView(transcript);
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
	expect(transcript.snapshot().entries.map((entry) => "text" in entry && entry.text)).toEqual([
		"Hello.",
		"The answer above was replaced by this one:",
		"Hello, signed.",
	]);
});
