// Validates the events that a model streams, as they are read.

import type { StreamEvent, StreamEventType } from "../stream/index.ts";
import { invalidResponse } from "./check-response.ts";

const types: ReadonlySet<unknown> = new Set<StreamEventType>([
	"text_delta",
	"reasoning_delta",
	"image_delta",
	"audio_delta",
	"video_delta",
	"tool_call_delta",
	"object_delta",
	"message_start",
	"message_stop",
	"content_block_start",
	"content_block_stop",
	"tool_execution_start",
	"tool_execution_end",
]);

/**
 * Returns the event if it is valid.
 * @throws UPPError INVALID_RESPONSE
 */
export function checkStreamEvent(given: unknown, provider: string): StreamEvent {
	try {
		if (isStreamEvent(given as Partial<StreamEvent> | null | undefined)) return given as StreamEvent;
	} catch (cause) {
		throw invalidResponse(provider, "its stream contains an event that cannot be read", cause);
	}
	throw invalidResponse(provider, "its stream contains a value that is not a stream event");
}

function isStreamEvent(event: Partial<StreamEvent> | null | undefined): boolean {
	const delta = event?.delta;
	return (
		typeof delta === "object" &&
		delta !== null &&
		types.has(event?.type) &&
		Number.isInteger(event?.index) &&
		isTextOrNone(delta.text) &&
		isTextOrNone(delta.argumentsJson) &&
		isTextOrNone(delta.toolCallId) &&
		isTextOrNone(delta.toolName) &&
		(delta.data === undefined || delta.data instanceof Uint8Array)
	);
}

function isTextOrNone(value: unknown): boolean {
	return value === undefined || typeof value === "string";
}
