// The messages of a session as they travel over HTTP.

/** Tokens of one model call. */
export interface Usage {
	/** Tokens of the prompt, including cached ones. */
	readonly inputTokens: number;
	/** Tokens of the answer, including reasoning. */
	readonly outputTokens: number;
	/** The sum of both. */
	readonly totalTokens: number;
	/** Input tokens read from the provider's cache. */
	readonly cacheReadTokens?: number;
	/** Input tokens written to the provider's cache. */
	readonly cacheWriteTokens?: number;
	/** Output tokens that the model spent on reasoning. */
	readonly reasoningTokens?: number;
	/** US dollars; absent if the prices are unknown. */
	readonly cost?: number;
}

/** A tool call by the model. */
export interface ToolCall {
	/** Id of the call; its result has the same id. */
	readonly id: string;
	/** The tool to run. */
	readonly name: string;
	/** The arguments that the model wrote. */
	readonly arguments: Readonly<Record<string, unknown>>;
}

/** A call that waits for an answer from outside the server. */
export interface PendingToolCall extends ToolCall {
	/** The call waits for approval, not for a result. */
	readonly approval?: true;
	/** The run to which the call belongs. */
	readonly runId?: string;
	/** When the server stops waiting, in milliseconds since 1970. */
	readonly deadline?: number;
	/**
	 * For a call of a sub-agent: the delegations that lead to it, each with the sub-agent and the call that delegated to
	 * it.
	 */
	readonly path?: readonly { readonly agent: string; readonly toolCallId: string }[];
	/** Set if an approval may change the arguments. */
	readonly mayEdit?: true;
	/** For a call of a background task: the id of the task. The session does not wait for it. */
	readonly taskId?: string;
}

/** A part of a user message. */
export type UserPart =
	| { readonly type: "text"; readonly text: string }
	/** `image` is base64 or a URL. */
	| { readonly type: "image"; readonly image: string; readonly mediaType?: string }
	/** `data` is base64. */
	| { readonly type: "file"; readonly data: string; readonly mediaType: string; readonly filename?: string };

/** A part of a model's message. */
export type AssistantPart =
	| { readonly type: "text"; readonly text: string }
	| { readonly type: "thinking"; readonly thinking: string }
	| ({ readonly type: "toolCall" } & ToolCall)
	/** A tool that the model's provider ran itself. */
	| ({ readonly type: "providerToolCall" } & ToolCall)
	| {
			readonly type: "providerToolResult";
			readonly toolCallId: string;
			readonly name: string;
			readonly output: string;
			readonly isError: boolean;
	  }
	/** A page or a document that the model cites as its source. */
	| {
			readonly type: "source";
			readonly id: string;
			/** `url`, `document`, or another term of the provider's. */
			readonly sourceType: string;
			readonly url?: string;
			readonly title?: string;
			readonly mediaType?: string;
			readonly filename?: string;
	  }
	/** A file that the model created: base64, or a URL. */
	| { readonly type: "file"; readonly data: string; readonly mediaType: string };

/** A message of a user. */
export interface UserMessage {
	readonly role: "user";
	/** Id of the message. Default: a new one. */
	readonly id?: string;
	/** Text, or texts, images and files. */
	readonly content: string | readonly UserPart[];
	/** Milliseconds since 1970. */
	readonly timestamp?: number;
}

/** A message of the model. */
export interface AssistantMessage {
	readonly role: "assistant";
	/** Id of the message. */
	readonly id: string;
	/** Id of the earlier answer that this one replaces. Show it in place of that one. */
	readonly replaces?: string;
	/** Texts, reasoning, tool calls, and the work of the provider. */
	readonly content: readonly AssistantPart[];
	/** The id of the model that answered. */
	readonly model: string;
	/** Why the model stopped. */
	readonly stopReason: "stop" | "length" | "tool_calls";
	/** The tokens of the answer. */
	readonly usage: Usage;
	/** When the answer was complete, in milliseconds since 1970. */
	readonly timestamp: number;
}

/** The result of a tool call. */
export interface ToolResultMessage {
	readonly role: "tool";
	/** Id of the call that it answers. */
	readonly toolCallId: string;
	/** The tool that was called. */
	readonly toolName: string;
	/** The result that the model sees. */
	readonly output: string;
	/** Whether the call failed. */
	readonly isError: boolean;
	/** Data for programs. The model does not see it. */
	readonly details?: unknown;
	/** Milliseconds since 1970. */
	readonly timestamp: number;
}

/** A reply that failed. */
export interface ErrorMessage {
	readonly role: "error";
	/** What happened. */
	readonly error: string;
	/** The code of the error. */
	readonly code: string;
	/** The partial text. */
	readonly partial?: AssistantMessage;
	/** Milliseconds since 1970. */
	readonly timestamp: number;
}

/** A reply that was stopped. */
export interface AbortedMessage {
	readonly role: "aborted";
	/** The partial text. */
	readonly partial?: AssistantMessage;
	/** Milliseconds since 1970. */
	readonly timestamp: number;
}

/** A message of a session's history. */
export type SessionMessage =
	| UserMessage
	| AssistantMessage
	| ToolResultMessage
	| ErrorMessage
	| AbortedMessage;
