// The events of an execution: small, delimited by message boundaries, and each plain JSON.

import type { StopReason } from "@holdfast/upp";
import type { CallPathStep, FailureReason } from "../facts/index.ts";
import type { KnownTool, KnownTools } from "../tools/index.ts";
import type { SessionMessage, SessionToolCall } from "./session-message.ts";

/** A tool call that waits for an outside result. */
export interface PendingSessionCall extends SessionToolCall {
	/** Set if the call waits for approval, not for its result. */
	readonly approval?: true;
	/** The run that an approval is for. */
	readonly runId?: string;
	/** Milliseconds since the epoch. The call fails after this time. */
	readonly deadline?: number;
	/** For a call of a sub-agent: the delegations that lead to it. No message of this session contains the call. */
	readonly path?: readonly CallPathStep[];
	/** Set if an approval may change the arguments. */
	readonly mayEdit?: true;
	/** For a call of a background task: the id of the task. The session does not wait for it. */
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
	 * `model`: the model's provider is busy or cannot be reached. `strategy`: the run's strategy waits. `subagent`: a
	 * sub-agent has other work first.
	 */
	readonly reason: "model" | "strategy" | "subagent";
	/** The strategy's name for the wait; `model` for a provider. */
	readonly tag: string;
	/**
	 * Milliseconds since the epoch at which the run continues by itself. A message to the run ends the wait earlier.
	 * Absent: a message or the sub-agent ends it.
	 */
	readonly until?: number;
	/** Code of the provider's latest error. */
	readonly code?: string;
	/** Number of consecutive failures of the provider. */
	readonly attempt?: number;
}

/** The start of one of these tools. */
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
	/** The first event of an execution. */
	| { readonly type: "session_start"; readonly sessionId: string }
	/** `messages`: the messages of this execution. */
	| { readonly type: "session_end"; readonly sessionId: string; readonly messages: readonly SessionMessage[] }
	/** The execution waits for the results of these calls. */
	| {
			readonly type: "awaiting_tool_execution";
			readonly sessionId: string;
			readonly toolCalls: readonly PendingSessionCall[];
	  }
	/** Calls wait while others of the execution still run. They can be answered, and the execution continues. */
	| {
			readonly type: "tools_pending";
			readonly sessionId: string;
			readonly toolCalls: readonly PendingSessionCall[];
	  }
	/**
	 * The execution waits. It continues by itself, and its events follow, unless `awaiting_tool_execution` comes next:
	 * then it also waits for outside answers.
	 */
	| ({ readonly type: "waiting"; readonly sessionId: string } & SessionWait)
	/** The execution continues after a wait. */
	| { readonly type: "resumed"; readonly sessionId: string }
	/** The user message of this id and everything after it have been removed from the conversation. */
	| { readonly type: "history_cut"; readonly messageId: string }
	/** `replaces`: the id of an earlier answer of this execution that this one replaces. Show it in place of that one. */
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
	/**
	 * `index`: position of the call among the calls of its message, from 0. `id` and `name`: those of the call, if the
	 * model's stream contains them before its arguments.
	 */
	| {
			readonly type: "toolcall_start";
			readonly index: number;
			readonly id?: string;
			readonly name?: string;
	  }
	/** A piece of the JSON of the arguments. */
	| { readonly type: "toolcall_delta"; readonly index: number; readonly delta: string }
	| { readonly type: "toolcall_end"; readonly index: number; readonly toolCall: SessionToolCall }
	| ExecutionStart<KnownTools<Tools>>
	/** A piece of the output of a running tool. */
	| { readonly type: "tool_execution_delta"; readonly toolCallId: string; readonly delta: string }
	/** A call has its result. `details`: data for the application, which no model sees. */
	| {
			readonly type: "tool_execution_end";
			readonly toolCallId: string;
			readonly output: string;
			readonly details?: unknown;
			readonly isError?: true;
	  }
	/** The execution failed. */
	| {
			readonly type: "error";
			readonly error: string;
			readonly code: string;
			/** Why the execution failed, for programs that react to the kind of failure. */
			readonly reason: FailureReason;
			readonly message?: SessionMessage;
	  };

/** The last event of an execution in its session's log. It is not part of any history. */
export interface ExecuteComplete {
	readonly type: "execute_complete";
	/** How the execution ended, or that it waits for tool results. */
	readonly status: Exclude<SessionStatus, "idle" | "running">;
	/** The calls that it waits for; absent with any other status. */
	readonly pendingToolCalls?: readonly PendingSessionCall[];
	/**
	 * Calls of background tasks that wait when this is sent, with any status. The session does not wait for them. Present
	 * if there are any; never stored in the log.
	 */
	readonly backgroundToolCalls?: readonly PendingSessionCall[];
	/** With status `error`: why it failed. */
	readonly error?: { readonly code: string; readonly message: string };
	/** The structured answer, for an agent with the option `output`, as JSON. */
	readonly output?: unknown;
	/**
	 * With status `completed`: why the model stopped its last answer, if not `stop`. `length` means that the answer was
	 * cut off.
	 */
	readonly stopReason?: StopReason;
}
