// The output of this server in the AI SDK's UI message stream protocol, version v1: chunks that build one message, and
// the message itself. The types need no package; a type test compares them with the real package.

import type { SessionMessage } from "holdfast";
import type { SessionWait } from "holdfast/execute";

type AssistantPart = Extract<SessionMessage, { readonly role: "assistant" }>["content"][number];
type SourcePart = Extract<AssistantPart, { readonly type: "source" }>;

/** A chunk of a message. */
export type UiChunk =
	| { readonly type: "start"; readonly messageId?: string }
	| { readonly type: "start-step" | "finish-step" | "reset-step" | "abort" }
	| {
			readonly type: "finish";
			readonly finishReason:
				| "stop"
				| "length"
				| "content-filter"
				| "tool-calls"
				| "error"
				| "other"
				| "interrupted";
	  }
	| { readonly type: "text-start" | "text-end" | "reasoning-start" | "reasoning-end"; readonly id: string }
	| { readonly type: "text-delta" | "reasoning-delta"; readonly id: string; readonly delta: string }
	| { readonly type: "tool-input-start"; readonly toolCallId: string; readonly toolName: string }
	| { readonly type: "tool-input-delta"; readonly toolCallId: string; readonly inputTextDelta: string }
	| {
			readonly type: "tool-input-available";
			readonly toolCallId: string;
			readonly toolName: string;
			readonly input: unknown;
			/** Set for calls that the page must not execute. */
			readonly providerExecuted?: true;
	  }
	| { readonly type: "tool-approval-request"; readonly approvalId: string; readonly toolCallId: string }
	| {
			readonly type: "tool-approval-response";
			readonly approvalId: string;
			readonly approved: true;
			readonly providerExecuted: true;
	  }
	| {
			readonly type: "tool-output-available";
			readonly toolCallId: string;
			readonly output: unknown;
			/** Set while the tool has not ended. */
			readonly preliminary?: true;
			/** Set if the model's provider ran the tool. */
			readonly providerExecuted?: true;
	  }
	| {
			readonly type: "tool-output-error";
			readonly toolCallId: string;
			readonly errorText: string;
			readonly providerExecuted?: true;
	  }
	| UiSourcePart
	| { readonly type: "file"; readonly mediaType: string; readonly url: string }
	| { readonly type: "tool-output-denied"; readonly toolCallId: string }
	/** The user's message waits for answers to these calls, and is answered after them. */
	| { readonly type: "data-queued"; readonly id: "queued"; readonly data: UiQueued }
	/** One part of the message; its data is replaced when the wait ends. */
	| { readonly type: "data-waiting"; readonly id: "waiting"; readonly data: UiWait }
	| { readonly type: "error"; readonly errorText: string };

/** The reason why an answer waits, with a sentence that describes it; or the end of the wait. */
export type UiWait =
	| (SessionWait & { readonly isOver: false; readonly text: string })
	| { readonly isOver: true };

/** The reason why a user message waits, with a sentence that describes it. */
export interface UiQueued {
	readonly toolCallIds: readonly string[];
	readonly text: string;
}

/** A source that an answer cites. */
export type UiSourcePart =
	| { readonly type: "source-url"; readonly sourceId: string; readonly url: string; readonly title?: string }
	| {
			readonly type: "source-document";
			readonly sourceId: string;
			readonly mediaType: string;
			readonly title: string;
			readonly filename?: string;
	  };

/** Converts a source to the form that pages show. */
export function sourcePart(source: SourcePart): UiSourcePart {
	const { id: sourceId, url, title, mediaType, filename } = source;
	if (url !== undefined)
		return { type: "source-url", sourceId, url, ...(title === undefined ? {} : { title }) };
	return {
		type: "source-document",
		sourceId,
		mediaType: mediaType ?? "application/octet-stream",
		title: title ?? filename ?? sourceId,
		...(filename === undefined ? {} : { filename }),
	};
}

/** Returns the URL of a file: its own, or a data URL. */
export function urlOf(data: string, mediaType: string): string {
	return /^(?:https?|data):/.test(data) ? data : `data:${mediaType};base64,${data}`;
}

/** A tool call in a message. */
export interface UiToolPart {
	readonly type: `tool-${string}`;
	readonly toolCallId: string;
	input: unknown;
	state: "input-available" | "approval-requested" | "output-available" | "output-error";
	providerExecuted?: true;
	approval?: { readonly id: string };
	output?: unknown;
	errorText?: string;
}

/** A part of a message. */
export type UiPart =
	| { readonly type: "step-start" }
	| { readonly type: "text" | "reasoning"; readonly text: string; readonly state?: "done" }
	| { readonly type: "file"; readonly mediaType: string; readonly url: string; readonly filename?: string }
	| UiSourcePart
	| UiToolPart;

/** A message as a page shows it: everything an agent did for one user message is one message. */
export interface UiMessage {
	readonly id: string;
	readonly role: "user" | "assistant";
	readonly parts: readonly UiPart[];
}

/** Returns the id of the answer to a message: the same in a stream, in a replay and in a history. */
export function answerIdOf(userMessageId: string): string {
	return `${userMessageId}.answer`;
}

/** Returns the id of a message without one of its own, because it came with the context of a new chat. */
export function idOfPlace(index: number): string {
	return `user-${index}`;
}

/** Whether an id only gives a message's position. */
export function isIdOfPlace(id: string): boolean {
	return /^user-\d+$/.test(id);
}

/** Returns the id of an approval. It includes the run, because a call of another run may have the same id. */
export function approvalIdOf(runId: string | undefined, toolCallId: string): string {
	return runId === undefined ? toolCallId : `${runId}/${toolCallId}`;
}

/** Returns the call and the run of an approval. */
export function readApprovalId(approvalId: string): { readonly toolCallId: string; readonly runId?: string } {
	const at = approvalId.indexOf("/");
	if (at < 0) return { toolCallId: approvalId };
	return { runId: approvalId.slice(0, at), toolCallId: approvalId.slice(at + 1) };
}

/** The output of a delegation while its sub-agent waits for an external answer. */
export const waitsOutput = "It waits.";

/** A tool's output: JSON text is parsed, other text is unchanged. */
export function outputOf(text: string): unknown {
	if (!/^\s*[[{]/.test(text)) return text;
	try {
		return JSON.parse(text);
	} catch {
		return text;
	}
}

/** Whether a chunk defines a call or its result, and therefore stays if the text of its step is replaced. */
export function isOfCall(chunk: UiChunk): boolean {
	switch (chunk.type) {
		case "tool-input-available":
		case "tool-output-error":
		case "tool-output-denied":
		case "tool-approval-request":
		case "tool-approval-response":
			return true;
		case "tool-output-available":
			return chunk.preliminary !== true;
		default:
			return false;
	}
}

/** Why a model stopped, in the AI SDK's words. */
export const finishReasons = {
	stop: "stop",
	length: "length",
	tool_calls: "tool-calls",
	content_filter: "content-filter",
	error: "error",
	other: "other",
} as const;
