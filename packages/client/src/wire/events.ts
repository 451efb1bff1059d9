// The events of a session as they travel over HTTP.

import type { PendingToolCall, SessionMessage, ToolCall } from "./messages.ts";

/** Inputs and outputs of tools by name, from an agent's type. */
export type ToolTypes = Readonly<Record<string, { readonly input: unknown; readonly output: unknown }>>;

/** The reason why an execution waits, other than answers to its calls. */
export interface SessionWait {
	/**
	 * `model`: the provider of its model is busy or unreachable. `strategy`: its strategy waits. `subagent`: a sub-agent
	 * has other work first.
	 */
	readonly reason: "model" | "strategy" | "subagent";
	/** The strategy's name for the wait; `model` for the provider. */
	readonly tag: string;
	/** Milliseconds since 1970, when it continues by itself. Absent: a message or the sub-agent ends the wait. */
	readonly until?: number;
	/** Code of the provider's last error. */
	readonly code?: string;
	/** How often the provider has failed in a row. */
	readonly attempt?: number;
}

/** One of these tools starts. */
type ExecutionStart<Tools> = {
	[Name in keyof Tools]: {
		readonly type: "tool_execution_start";
		readonly toolCallId: string;
		readonly toolName: Name;
		/** The arguments as the tool receives them. */
		readonly args: Tools[Name] extends { readonly input: infer Input } ? Input : unknown;
	};
}[keyof Tools];

/** An event of a session. */
export type ExecuteEvent<Tools = ToolTypes> =
	/** The first event of an execution. */
	| { readonly type: "session_start"; readonly sessionId: string }
	/** `messages` are those of this execution, including its input. */
	| {
			readonly type: "session_end";
			readonly sessionId: string;
			readonly messages: readonly SessionMessage[];
	  }
	/** The execution waits for the results of these calls. */
	| {
			readonly type: "awaiting_tool_execution";
			readonly sessionId: string;
			readonly toolCalls: readonly PendingToolCall[];
	  }
	/** Calls wait while others of the execution still run: they can be answered, and the execution continues. */
	| {
			readonly type: "tools_pending";
			readonly sessionId: string;
			readonly toolCalls: readonly PendingToolCall[];
	  }
	/**
	 * The execution waits. It continues by itself, and its events follow, unless `awaiting_tool_execution` comes next:
	 * then it also waits for an external answer.
	 */
	| ({ readonly type: "waiting"; readonly sessionId: string } & SessionWait)
	/** The execution continues after a wait. */
	| { readonly type: "resumed"; readonly sessionId: string }
	/** The user message with this id and everything after it have been removed from the conversation. */
	| { readonly type: "history_cut"; readonly messageId: string }
	/** `replaces`: the id of an earlier answer that this one replaces. Show it in place of that one. */
	| { readonly type: "message_start"; readonly role: SessionMessage["role"]; readonly replaces?: string }
	/** The message is complete and committed. */
	| { readonly type: "message_end"; readonly message: SessionMessage }
	/** A text of the answer begins; `delta` is its next piece. */
	| { readonly type: "text_start" }
	| { readonly type: "text_delta"; readonly delta: string }
	| { readonly type: "text_end"; readonly text: string }
	/** A part of the reasoning begins; `delta` is its next piece. */
	| { readonly type: "thinking_start" }
	| { readonly type: "thinking_delta"; readonly delta: string }
	| { readonly type: "thinking_end"; readonly thinking: string }
	/** `index` is the position of the call among the message's calls, starting at 0. */
	| { readonly type: "toolcall_start"; readonly index: number; readonly id?: string; readonly name?: string }
	/** A piece of the JSON of the arguments. */
	| { readonly type: "toolcall_delta"; readonly index: number; readonly delta: string }
	| { readonly type: "toolcall_end"; readonly index: number; readonly toolCall: ToolCall }
	| ExecutionStart<Tools>
	/** A piece of the output of a running tool. */
	| { readonly type: "tool_execution_delta"; readonly toolCallId: string; readonly delta: string }
	/** A call has its result. `details`: data for the application, which no model sees. */
	| {
			readonly type: "tool_execution_end";
			readonly toolCallId: string;
			readonly output: string;
			readonly details?: unknown;
			readonly isError?: boolean;
	  }
	/** The execution failed. */
	| {
			readonly type: "error";
			readonly error: string;
			readonly code: string;
			/** Why the execution failed. */
			readonly reason: FailureReason;
			readonly message?: SessionMessage;
	  };

/**
 * Why an execution failed. `provider`: the provider of its model failed or refused the request. `content_filter`: it
 * refused or filtered content. `length`: the conversation is longer than the model can read. `limit`: a limit of the
 * server was reached. `policy`: a policy refused it. `killed`: the session was killed. `error`: anything else; see the
 * code.
 */
export type FailureReason =
	| "provider"
	| "content_filter"
	| "length"
	| "limit"
	| "policy"
	| "killed"
	| "error";

/** How an execution ended. */
export type ExecuteStatus = "completed" | "awaiting_tool_execution" | "error" | "aborted";

/** The last event of an execution. */
export interface ExecuteComplete {
	readonly type: "execute_complete";
	/** How the execution ended. */
	readonly status: ExecuteStatus;
	/** With status `awaiting_tool_execution`: the calls that wait for an answer. */
	readonly pendingToolCalls?: readonly PendingToolCall[];
	/** Waiting calls of background tasks. The session does not wait for them. Absent if no call waits. */
	readonly backgroundToolCalls?: readonly PendingToolCall[];
	/** With status `error`: the error. */
	readonly error?: { readonly code: string; readonly message: string };
	/** With status `completed`: the output of an agent with the option `output`. */
	readonly output?: unknown;
	/** With status `completed`: why the model stopped its last answer, if not `stop`. */
	readonly stopReason?: StopReason;
}

/** Why a model stopped, if its answer did not end normally: `length` means that it was cut off at the token limit. */
export type StopReason = "stop" | "length" | "tool_calls" | "content_filter" | "error" | "other";

/**
 * An event with its position in the session. Compare ids for equality only; pass the last one back to continue after it.
 */
export interface LoggedEvent {
	/** The id of the event: pass it as `after` to receive the events that follow. */
	readonly id: string;
	/** The event. */
	readonly event: ExecuteEvent | ExecuteComplete;
}
