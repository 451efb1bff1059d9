// A run of any length is projected in time that grows with its length, and no faster (keeps I7).
import type { LoggedEvent } from "holdfast/execute";
import { expect, test } from "vitest";
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

function costOf(count: number): number {
	const costs = Array.from({ length: 3 }, () => {
		const projection = new ChatProjection();
		const from = process.cpuUsage();
		let at = 0;
		for (const event of rounds(count)) projection.add({ id: `${at++}.0.0`, event });
		const { user, system } = process.cpuUsage(from);
		return (user + system) / 1_000;
	});
	return Math.min(...costs);
}

test("calls one after the other", () => {
	// Linear work costs eight times as much, some more where it outgrows the caches, and a square 64 times.
	expect(costOf(64_000)).toBeLessThan(24 * Math.max(costOf(8_000), 4));
});
