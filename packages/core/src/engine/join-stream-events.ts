// Joining deltas: what a buffer at its limit does instead of growing (keeps I7).
import type { StreamEvent } from "@holdfast/upp";

/** Joins two adjacent stream events of one content block; undefined where they differ in kind. */
export function joinStreamEvents(last: StreamEvent, next: StreamEvent): StreamEvent | undefined {
	if (last.type !== next.type || last.index !== next.index) return undefined;
	switch (last.type) {
		case "text_delta":
		case "reasoning_delta":
		case "object_delta":
			return { ...last, delta: { ...last.delta, text: (last.delta.text ?? "") + (next.delta.text ?? "") } };
		case "tool_call_delta":
			return {
				...last,
				delta: {
					...last.delta,
					argumentsJson: (last.delta.argumentsJson ?? "") + (next.delta.argumentsJson ?? ""),
				},
			};
		default:
			return undefined;
	}
}
