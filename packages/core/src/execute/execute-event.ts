// The events of an execution: small, delimited by message boundaries, and each plain JSON.

import type { StopReason } from "@holdfast/upp";
import type { CallPathStep } from "../facts/index.ts";
import type { KnownTool, KnownTools } from "../tools/index.ts";
import type { SessionMessage, SessionToolCall } from "./session-message.ts";

/** A tool call that waits for an outside result. */
export interface PendingSessionCall extends SessionToolCall {
	/** Set where the call waits to be let run, and not for its result. */
	readonly approval?: true;
	/** The run an approval is for. */
	readonly runId?: string;
	/** Milliseconds since the epoch, after which the call has failed. */
	readonly deadline?: number;
	/** Of a call of a sub-agent: the delegations that lead to it. It is in no message of this session. */
	readonly path?: readonly CallPathStep[];
	/** Set where an approval may change the arguments. */
	readonly mayEdit?: true;
	/** Of a call of a task in the background: the id of the task. The session does not wait for it. */
	readonly taskId?: string;
}

/** The state of a session. `idle`: nothing has been executed yet. */
export type SessionStatus =
	| "idle"
	| "running"
	| "awaiting_tool_execution"
	| "completed"
	| "error"
	| "aborted";

/** A run waits for something other than answers to its calls. */
export interface SessionWait {
	/**
	 * `model`: the provider of its model is busy or cannot be reached. `strategy`: its strategy waits. `subagent`: a sub-agent
	 * has other work first.
	 */
	readonly reason: "model" | "strategy" | "subagent";
	/** The strategy's name for what it waits for; `model` for the provider. */
	readonly tag: string;
	/**
	 * Milliseconds since the epoch, when the run continues by itself. A message that enters the run ends the wait earlier.
	 * Absent: a message or the sub-agent ends it.
	 */
	readonly until?: number;
	/** Code of the provider's last error. */
	readonly code?: string;
	/** How often the provider has failed in a row. */
	readonly attempt?: number;
}

/** One of these tools begins. */
type ExecutionStart<Tool extends KnownTool> = Tool extends KnownTool
	? {
			readonly type: "tool_execution_start";
			readonly toolCallId: string;
			readonly toolName: Tool["name"];
			readonly args: Tool["input"];
		}
	: never;

/** One event of an execution. */
export type ExecuteEvent<Tools = unknown> =
	| { readonly type: "session_start"; readonly sessionId: string }
	/** `messages`: those of this execution. */
	| { readonly type: "session_end"; readonly sessionId: string; readonly messages: readonly SessionMessage[] }
	| {
			readonly type: "awaiting_tool_execution";
			readonly sessionId: string;
			readonly toolCalls: readonly PendingSessionCall[];
	  }
	/** Calls wait while others of the execution still run: they can be answered, and the execution continues. */
	| {
			readonly type: "tools_pending";
			readonly sessionId: string;
			readonly toolCalls: readonly PendingSessionCall[];
	  }
	/**
	 * The execution waits. It continues by itself, and its events follow, unless `awaiting_tool_execution` comes next: then it
	 * waits for somebody outside, too.
	 */
	| ({ readonly type: "waiting"; readonly sessionId: string } & SessionWait)
	/** The execution continues after a wait. */
	| { readonly type: "resumed"; readonly sessionId: string }
	/** The user message of this id and everything after it have been removed from the conversation. */
	| { readonly type: "history_cut"; readonly messageId: string }
	| { readonly type: "message_start"; readonly role: SessionMessage["role"] }
	| { readonly type: "message_end"; readonly message: SessionMessage }
	| { readonly type: "text_start" }
	| { readonly type: "text_delta"; readonly delta: string }
	| { readonly type: "text_end"; readonly text: string }
	| { readonly type: "thinking_start" }
	| { readonly type: "thinking_delta"; readonly delta: string }
	| { readonly type: "thinking_end"; readonly thinking: string }
	/**
	 * `index`: position of the call among those of its message, from 0. `id` and `name`: those of the call, where the
	 * model's stream has them before its arguments.
	 */
	| {
			readonly type: "toolcall_start";
			readonly index: number;
			readonly id?: string;
			readonly name?: string;
	  }
	| { readonly type: "toolcall_delta"; readonly index: number; readonly delta: string }
	| { readonly type: "toolcall_end"; readonly index: number; readonly toolCall: SessionToolCall }
	| ExecutionStart<KnownTools<Tools>>
	| { readonly type: "tool_execution_delta"; readonly toolCallId: string; readonly delta: string }
	| {
			readonly type: "tool_execution_end";
			readonly toolCallId: string;
			readonly output: string;
			readonly details?: unknown;
			readonly isError?: true;
	  }
	| {
			readonly type: "error";
			readonly error: string;
			readonly code: string;
			readonly message?: SessionMessage;
	  };

/** The last event of an execution in its session's log. It is not part of any history. */
export interface ExecuteComplete {
	readonly type: "execute_complete";
	readonly status: Exclude<SessionStatus, "idle" | "running">;
	readonly pendingToolCalls?: readonly PendingSessionCall[];
	/**
	 * Calls of tasks in the background that wait as this is sent, with any status. The session does not wait for them. Present
	 * where there are any; the log has none.
	 */
	readonly backgroundToolCalls?: readonly PendingSessionCall[];
	readonly error?: { readonly code: string; readonly message: string };
	/** The structured answer, for an agent with the option `output`, as JSON. */
	readonly output?: unknown;
	/** With status `completed`: why the model stopped its last answer, where it is not `stop`. `length` is one that was cut off. */
	readonly stopReason?: StopReason;
}
