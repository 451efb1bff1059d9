// A run of any length is projected in time that grows with its length, and no faster (keeps I7).
import type { LoggedEvent } from "holdfast/execute";
import { test } from "vitest";
import { expectProportion } from "../../../../test/shared/in-proportion.fixture.ts";
import { ChatProjection } from "./chat-projection.ts";

type Event = LoggedEvent["event"];

/** A run of so many rounds, each with one call. */
function* rounds(count: number): Generator<Event> {
	for (let at = 0; at < count; at++) {
		const toolCallId = `c${at}`;
		const toolCall = { id: toolCallId, name: "add", arguments: {} };
		yield { type: "message_start", role: "assistant" };
		yield { type: "toolcall_start", index: 0, id: toolCallId, name: "add" };
		yield { type: "toolcall_end", index: 0, toolCall };
		yield { type: "tool_execution_end", toolCallId, output: "1" };
	}
}

test("calls one after the other", async () => {
	await expectProportion(64_000, (count) => () => {
		const projection = new ChatProjection();
		let at = 0;
		for (const event of rounds(count)) projection.add({ id: `${at++}.0.0`, event });
	});
});
