// Stored messages of a thread, and the arguments for creating or changing them.
import type { AttachmentRef, ToolAttachment } from "./tool.ts";

/**
 * A message of a thread.
 */
export interface Message {
	/** Unique in the thread. */
	id: string;
	/** The role of its author. */
	role: "system" | "user" | "assistant" | "tool";
	/** Its text; null for a message that only calls tools. */
	content: string | null;
	/** Name of the tool whose result this is. */
	name?: string | null;
	/** The calls of an assistant's message, as a JSON array of {@link HookToolCall}. */
	tool_calls?: string | null;
	/** The call that this result answers. */
	tool_call_id?: string | null;
	/** When it was created, in microseconds since 1970; strictly increasing within a thread. */
	created_at: number;
	/** The message whose call created this one; null at the top level. */
	parent_id?: string | null;
	/** Nesting depth at which it was created; 0 at the top level. */
	depth?: number;
	/** Whether it is for the model only: such messages are listed only on request. */
	silent?: boolean;
	/**
	 * Custom data of the project; `queued: true` while the message waits to be injected; `provider_tools` and
	 * `web_searches` that the provider of an answer executed itself.
	 */
	metadata?: Record<string, unknown>;
	/** Its processing status. */
	status?: "pending" | "completed" | "failed";
	/** Files of the thread that belong to the message. */
	attachments?: AttachmentRef[];
}

/** Which messages to list. */
export interface GetMessagesOptions {
	/** Maximum number of messages to return; 100 by default. */
	limit?: number;
	/** Number of messages to skip; 0 by default. */
	offset?: number;
	/** Oldest first (`asc`, the default) or newest first. */
	order?: "asc" | "desc";
	/** Whether silent messages are listed too; `false` by default. */
	includeSilent?: boolean;
	/** Maximum depth of listed messages; all by default. */
	maxDepth?: number;
}

/** A page of messages. */
export interface MessagesResult {
	/** The messages of this page. */
	messages: Message[];
	/** Total number of messages. */
	total: number;
	/** Whether more messages follow this page. */
	hasMore: boolean;
}

/** A message that is stored without starting an execution. */
export interface InjectMessageInput {
	/** The role of its author. */
	role: "system" | "user" | "assistant" | "tool";
	/** Its text. */
	content: string | null;
	/** Name of the tool whose result this is. */
	name?: string;
	/** The calls of an assistant's message, as JSON. */
	tool_calls?: string;
	/** The call that this result answers. */
	tool_call_id?: string;
	/** Whether it is for the model only; `false` by default. */
	silent?: boolean;
	/** Custom data of the project. */
	metadata?: Record<string, unknown>;
	/** Files: new ones are written to the thread, existing ones are referenced. */
	attachments?: (ToolAttachment | AttachmentRef)[];
}

/** A message that waits for the next step of a thread, and starts an execution if none is running. */
export interface QueueMessageInput {
	/** The role of its author; `user` by default. */
	role?: "system" | "user" | "assistant";
	/** Its text. */
	content: string;
	/** Whether it is for the model only; `false` by default. */
	silent?: boolean;
	/** Custom data of the project. */
	metadata?: Record<string, unknown>;
	/** Files: new ones are written to the thread, existing ones are referenced. */
	attachments?: (ToolAttachment | AttachmentRef)[];
}

/** The changes to a message; other fields stay. */
export interface MessageUpdates {
	/** The new text. */
	content?: string | null;
	/** The new calls, as JSON. */
	tool_calls?: string | null;
	/** Whether it is for the model only. */
	silent?: boolean;
	/** Merged into the existing metadata of the message. */
	metadata?: Record<string, unknown>;
	/** Its processing status. */
	status?: "pending" | "completed" | "failed";
	/** The new files. */
	attachments?: AttachmentRef[];
	/** Additional columns that a project stores with the message. */
	[column: string]: unknown;
}
