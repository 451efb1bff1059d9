// Messages of a thread as they are stored, and the arguments for creating or changing them.
import type { AttachmentRef, ToolAttachment } from "./tool.ts";

/**
 * A message of a thread.
 */
export interface Message {
	/** Unique in the thread. */
	id: string;
	/** Who said it. */
	role: "system" | "user" | "assistant" | "tool";
	/** Its text; null for a message that only calls tools. */
	content: string | null;
	/** Name of the tool whose result this is. */
	name?: string | null;
	/** The calls of an assistant's message, as a JSON array of {@link HookToolCall}. */
	tool_calls?: string | null;
	/** The call that this result answers. */
	tool_call_id?: string | null;
	/** When it was made: microseconds since 1970, strictly increasing in a thread. */
	created_at: number;
	/** The message of the call that this message was made under; null at the top. */
	parent_id?: string | null;
	/** How deep below the top it was made; 0 at the top. */
	depth?: number;
	/** Whether it is for the model only: such messages are listed only on request. */
	silent?: boolean;
	/**
	 * Data of the project's own; `queued: true` while the message waits to be injected; `provider_tools` and `web_searches` that
	 * the provider of an answer carried out itself.
	 */
	metadata?: Record<string, unknown>;
	/** How far its processing is. */
	status?: "pending" | "completed" | "failed";
	/** Files of the thread that belong to it. */
	attachments?: AttachmentRef[];
}

/** Which messages are listed. */
export interface GetMessagesOptions {
	/** Most messages given at once; 100 by default. */
	limit?: number;
	/** Messages passed over first; 0 by default. */
	offset?: number;
	/** Oldest first (`asc`, the default) or newest first. */
	order?: "asc" | "desc";
	/** Whether silent messages are listed too; `false` by default. */
	includeSilent?: boolean;
	/** Deepest messages listed; all by default. */
	maxDepth?: number;
}

/** A page of messages. */
export interface MessagesResult {
	/** The messages of this page. */
	messages: Message[];
	/** How many messages there are in all. */
	total: number;
	/** Whether more follow this page. */
	hasMore: boolean;
}

/** A message that is stored without starting an execution. */
export interface InjectMessageInput {
	/** Who says it. */
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
	/** Data of the project's own. */
	metadata?: Record<string, unknown>;
	/** Files: new ones are written to the thread, others are referred to. */
	attachments?: (ToolAttachment | AttachmentRef)[];
}

/** A message that waits for the next step of a thread, and starts an execution where none runs. */
export interface QueueMessageInput {
	/** Who says it; `user` by default. */
	role?: "system" | "user" | "assistant";
	/** Its text. */
	content: string;
	/** Whether it is for the model only; `false` by default. */
	silent?: boolean;
	/** Data of the project's own. */
	metadata?: Record<string, unknown>;
	/** Files: new ones are written to the thread, others are referred to. */
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
	/** Merged into the metadata that the message has. */
	metadata?: Record<string, unknown>;
	/** How far its processing is. */
	status?: "pending" | "completed" | "failed";
	/** The new files. */
	attachments?: AttachmentRef[];
	/** Further columns that a project stores with the message. */
	[column: string]: unknown;
}
