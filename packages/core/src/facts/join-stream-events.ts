// Joins deltas, so that a buffer at its limit stops growing (keeps I7).
import type { StreamEvent } from "@holdfast/upp";
import type { ModelEvent } from "./events.ts";
import { flat, flatFrom } from "./flat-text.ts";

/** Joins two adjacent events of one model call, at the position of the later one. */
export function joinModelEvents(last: ModelEvent, next: ModelEvent): ModelEvent | undefined {
	const event = joinStreamEvents(last.event, next.event);
	return event === undefined ? undefined : { ...next, event };
}

/**
 * Joins two adjacent stream events of one content block. Returns undefined if they differ in kind or are already long
 * enough.
 */
export function joinStreamEvents(last: StreamEvent, next: StreamEvent): StreamEvent | undefined {
	if (last.type !== next.type || last.index !== next.index) return undefined;
	switch (last.type) {
		case "text_delta":
		case "reasoning_delta":
		case "object_delta":
			return joined(last, next, "text");
		case "tool_call_delta":
			if ((next.delta.toolCallId ?? last.delta.toolCallId) !== last.delta.toolCallId) return undefined;
			return joined(last, next, "argumentsJson");
		default:
			return undefined;
	}
}

function joined(
	last: StreamEvent,
	next: StreamEvent,
	part: "text" | "argumentsJson",
): StreamEvent | undefined {
	const before = last.delta[part] ?? "";
	if (before.length >= flatFrom) return undefined;
	const text = before + (next.delta[part] ?? "");
	return { ...last, delta: { ...last.delta, [part]: text.length < flatFrom ? text : flat(text) } };
}
