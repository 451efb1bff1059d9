// Requests to a session, and the server's information about sessions.

import type { SessionWait } from "./events.ts";
import type { PendingToolCall, SessionMessage, UserMessage } from "./messages.ts";

/** The result of a pending call. */
export interface ToolAnswer {
	readonly role: "tool";
	readonly toolCallId: string;
	/** The run it is for: meant for another, it is refused. Default: whichever waits. */
	readonly runId?: string;
	readonly output: string;
	/** Default `false`. */
	readonly isError?: boolean;
	/** For watchers; the model does not see them. */
	readonly details?: unknown;
}

/** The decision on a pending call that asks for approval. */
export interface ApprovalAnswer {
	readonly role: "approval";
	readonly toolCallId: string;
	/** The run it is for: meant for another, it is refused. Default: whichever waits. */
	readonly runId?: string;
	readonly approved: boolean;
	/** Shown to the model when it was denied. */
	readonly reason?: string;
	/** Replaces the input that was shown; only for a call with `mayEdit`. */
	readonly input?: Readonly<Record<string, unknown>>;
}

/** The answer to a pending call. */
export type Answer = ToolAnswer | ApprovalAnswer;

/** A tool as the server and the model know it. */
export interface ToolDescription {
	readonly name: string;
	readonly label?: string;
	readonly description: string;
	/** JSON Schema. */
	readonly parameters: Readonly<Record<string, unknown>>;
}

/** The context of a new session. The server ignores it for an existing session. */
export interface ExecuteContext {
	readonly systemPrompt?: string;
	readonly messages?: readonly SessionMessage[];
	/** Tools whose calls other clients answer; those of `tools` are added. */
	readonly tools?: readonly ToolDescription[];
}

/** How the model is asked, from this execution on. */
export interface ModelOptions {
	/** One of the models that the server offers. */
	readonly model?: string;
	readonly temperature?: number;
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
	readonly status: SessionStatus;
	readonly messages: readonly SessionMessage[];
	/** US dollars, of all answers whose price is known. */
	readonly totalCost: number;
	readonly pendingToolCalls?: readonly PendingToolCall[];
	/** Calls of tasks in the background that wait. The session does not wait for them. Present where there are any. */
	readonly backgroundToolCalls?: readonly PendingToolCall[];
	/** The wait of the current execution, other than for answers to its calls. */
	readonly waiting?: SessionWait;
	/** The model that answered last, else the one that will. */
	readonly model: string;
	/** The id of its last event, to `watch` from there. */
	readonly lastEventId?: string;
	/** The last run: the events after `after` are its own, including those after its waits. Absent before the first. */
	readonly lastRun?: { readonly runId: string; readonly after: string };
}

/** A session in a list. */
export interface SessionSummary {
	readonly sessionId: string;
	/** Milliseconds since 1970. */
	readonly createdAt: number;
	/** Milliseconds since 1970. */
	readonly updatedAt: number;
	/** Whether an execution is under way or waits. */
	readonly isOpen: boolean;
}

/** A page of a list of sessions. */
export interface SessionPage {
	readonly sessions: readonly SessionSummary[];
	/** Hand it back as `after` for the next page; absent on the last one. */
	readonly next?: string;
}
