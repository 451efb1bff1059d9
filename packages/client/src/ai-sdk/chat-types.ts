// The AI SDK's transport interface, limited to the parts used here, without a dependency; a type test compares these
// types with the real package.

import type { SessionWait } from "../wire/index.ts";

/** A message of a page. */
export interface ChatMessage {
	/** Id of the message. */
	readonly id: string;
	/** The author of the message. */
	readonly role: "system" | "user" | "assistant";
	/** Texts, files, tool calls and other parts of the AI SDK. */
	readonly parts: readonly { readonly type: string }[];
}

/**
 * The data of the part `data-waiting`: the reason for waiting and a sentence that describes it, or the end of the wait.
 */
export type ChatWait =
	| (SessionWait & { readonly isOver: false; readonly text: string })
	| { readonly isOver: true };

/** A chunk of a message, as the server sends it. */
export type ChatChunk =
	| { type: "start"; messageId?: string }
	| { type: "start-step" | "finish-step" | "reset-step" | "abort" }
	| { type: "finish"; finishReason: "stop" | "length" | "tool-calls" | "error" | "interrupted" }
	| { type: "text-start" | "text-end" | "reasoning-start" | "reasoning-end"; id: string }
	| { type: "text-delta" | "reasoning-delta"; id: string; delta: string }
	| { type: "tool-input-start"; toolCallId: string; toolName: string }
	| { type: "tool-input-delta"; toolCallId: string; inputTextDelta: string }
	| {
			type: "tool-input-available";
			toolCallId: string;
			toolName: string;
			input: unknown;
			providerExecuted?: true;
	  }
	| { type: "tool-approval-request"; approvalId: string; toolCallId: string }
	| { type: "tool-approval-response"; approvalId: string; approved: boolean; providerExecuted?: true }
	| { type: "tool-output-available"; toolCallId: string; output: unknown; preliminary?: true }
	| { type: "tool-output-error"; toolCallId: string; errorText: string }
	| { type: "tool-output-denied"; toolCallId: string }
	| { type: "data-waiting"; id: "waiting"; data: ChatWait }
	| { type: "data-queued"; id: "queued"; data: { toolCallIds: readonly string[]; text: string } }
	| { type: "error"; errorText: string };

/** The options of each request of a page. */
interface RequestOptions {
	/** The id of the chat, which is that of its session. */
	readonly chatId: string;
	/** Sent in addition to those of the transport. */
	readonly headers?: Record<string, string> | Headers | undefined;
}

/** The options of a send request. */
export interface SendOptions<Message extends ChatMessage = ChatMessage> extends RequestOptions {
	/** Whether a message was sent, or an answer is to be generated again. */
	readonly trigger: "submit-message" | "regenerate-message";
	/** The answer to generate again; with `submit-message`, the user message to replace, if any. */
	readonly messageId: string | undefined;
	/** All messages of the chat. The one with `messageId` is sent, otherwise the last one. */
	readonly messages: readonly Message[];
	/** Stops the run. */
	readonly abortSignal: AbortSignal | undefined;
	/** Members in addition to the message: `context` of a new chat, and `options`. */
	readonly body?: object | undefined;
}

/** The options of a reconnect request. */
export interface ReconnectOptions extends RequestOptions {
	/** Stops the run. */
	readonly abortSignal?: AbortSignal | undefined;
}
