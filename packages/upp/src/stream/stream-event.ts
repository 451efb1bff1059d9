// The events of a model's answer while it is generated.

/** The kind of a stream event. */
export type StreamEventType =
	| "text_delta"
	| "reasoning_delta"
	| "image_delta"
	| "audio_delta"
	| "video_delta"
	| "tool_call_delta"
	| "object_delta"
	| "message_start"
	| "message_stop"
	| "content_block_start"
	| "content_block_stop"
	| "tool_execution_start"
	| "tool_execution_end";

/** The change. The event's type determines which members are set. */
export interface StreamDelta {
	/** A piece of text, reasoning or JSON. */
	text?: string;
	/** A piece of an image, audio or video. */
	data?: Uint8Array;
	/** The call that the event belongs to. */
	toolCallId?: string;
	/** The tool of that call. */
	toolName?: string;
	/** A piece of the arguments' JSON text. */
	argumentsJson?: string;
}

/** An event that occurred while a model worked. */
export interface StreamEvent {
	/** The kind of event. */
	type: StreamEventType;
	/** The index of the content block within the message; for tool executions, of the call within its message. */
	index: number;
	/** The change. */
	delta: StreamDelta;
}
