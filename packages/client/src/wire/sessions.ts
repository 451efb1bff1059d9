// Requests to a session, and what the server returns about sessions.

import type { SessionWait } from "./events.ts";
import type { PendingToolCall, SessionMessage, UserMessage } from "./messages.ts";

/** The result of a pending call. */
export interface ToolAnswer {
	readonly role: "tool";
	/** The call that waits. */
	readonly toolCallId: string;
	/** The run that the answer is for; refused if another run waits. Default: whichever waits. */
	readonly runId?: string;
	/** Its result. */
	readonly output: string;
	/** Default `false`. */
	readonly isError?: boolean;
	/** For watchers; the model does not see them. */
	readonly details?: unknown;
}

/** The decision on a pending call that requires approval. */
export interface ApprovalAnswer {
	readonly role: "approval";
	/** The call that waits. */
	readonly toolCallId: string;
	/** The run that the decision is for; refused if another run waits. Default: whichever waits. */
	readonly runId?: string;
	/** Whether the call may run. */
	readonly approved: boolean;
	/** Shown to the model if the call was denied. */
	readonly reason?: string;
	/** Replaces the displayed input; only for a call with `mayEdit`. */
	readonly input?: Readonly<Record<string, unknown>>;
}

/** The answer to a pending call. */
export type Answer = ToolAnswer | ApprovalAnswer;

/** A tool as the server and the model see it. */
export interface ToolDescription {
	/** The name by which the model calls it. */
	readonly name: string;
	/** A name for people. */
	readonly label?: string;
	/** Explains the tool to the model. */
	readonly description: string;
	/** JSON Schema. */
	readonly parameters: Readonly<Record<string, unknown>>;
}

/** The context of a new session. The server ignores it for an existing session. */
export interface ExecuteContext {
	/** The instructions of the model. The server has to allow it. */
	readonly systemPrompt?: string;
	/** The history of the new session. The server has to allow it. */
	readonly messages?: readonly SessionMessage[];
	/** Tools whose calls other clients answer, in addition to those of `tools`. */
	readonly tools?: readonly ToolDescription[];
}

/** Options of the model, from this execution on. */
export interface ModelOptions {
	/** One of the models that the server offers. Default: the session's, otherwise the server's. */
	readonly model?: string;
	/** Sampling temperature, as defined by the provider. Default: the session's. */
	readonly temperature?: number;
	/** Maximum number of tokens of an answer. Default: the session's. */
	readonly maxTokens?: number;
}

/** The input of an execution: a message, or answers to pending calls. */
export type ExecuteInput = UserMessage | readonly Answer[];

/** The status of a session. */
export type SessionStatus =
	| "idle"
	| "running"
	| "awaiting_tool_execution"
	| "completed"
	| "error"
	| "aborted";

/** A session with its history. */
export interface SessionInfo {
	readonly sessionId: string;
	/** The status of the session. */
	readonly status: SessionStatus;
	/** The whole conversation, oldest first. */
	readonly messages: readonly SessionMessage[];
	/** US dollars of all answers with a known price. */
	readonly totalCost: number;
	/** The calls that wait for an answer. */
	readonly pendingToolCalls?: readonly PendingToolCall[];
	/** Waiting calls of background tasks. The session does not wait for them. Absent if no call waits. */
	readonly backgroundToolCalls?: readonly PendingToolCall[];
	/** The reason why the current execution waits, other than answers to its calls. */
	readonly waiting?: SessionWait;
	/** The model of the last answer, otherwise that of the next one. */
	readonly model: string;
	/** The id of its last event, to `watch` from there. */
	readonly lastEventId?: string;
	/** The last run: the events after `after` are its own, including those after its waits. Absent before the first. */
	readonly lastRun?: { readonly runId: string; readonly after: string };
	/** The value that the code of a workflow published last with `flow.state()`. Absent without any. */
	readonly workflowState?: unknown;
}

/** A session in a list. */
export interface SessionSummary {
	readonly sessionId: string;
	/** Milliseconds since 1970. */
	readonly createdAt: number;
	/** Milliseconds since 1970. */
	readonly updatedAt: number;
	/** Whether an execution is in flight or waits. */
	readonly isOpen: boolean;
}

/** A page of a list of sessions. */
export interface SessionPage {
	/** The sessions of this page. */
	readonly sessions: readonly SessionSummary[];
	/** Pass it as `after` for the next page; absent on the last one. */
	readonly next?: string;
}
