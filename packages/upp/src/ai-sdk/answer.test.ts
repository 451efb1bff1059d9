import { expect, test } from "vitest";
import type { StreamEvent } from "../stream/index.ts";
import { Answer } from "./answer.ts";

test("calls are in the order in which they were begun, whichever is whole first", () => {
	const events: StreamEvent[] = [];
	const answer = new Answer((event) => events.push(event), "text");
	answer.take({ type: "tool-input-start", id: "a", toolName: "look" });
	answer.take({ type: "tool-input-start", id: "b", toolName: "look" });
	answer.take({ type: "tool-call", toolCallId: "b", toolName: "look", input: "{}" });
	answer.take({ type: "tool-call", toolCallId: "a", toolName: "look", input: "{}" });
	const { message } = answer.finish();
	expect(message.toolCalls?.map(({ toolCallId }) => toolCallId)).toEqual(["a", "b"]);
	expect(events.map(({ index, delta }) => [index, delta.toolCallId])).toEqual([
		[0, "a"],
		[1, "b"],
	]);
});
