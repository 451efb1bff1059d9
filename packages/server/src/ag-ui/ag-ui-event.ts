// The AG-UI events that this server emits, in protocol version 1.0. The types need no package; a type test compares them
// with the real package.

import type { SessionWait } from "holdfast/execute";

/** A reason for a run to wait, other than results of the front end's tools. */
export interface AgUiInterrupt {
	readonly id: string;
	readonly reason: string;
	readonly message: string;
	readonly toolCallId: string;
	/** The tool and its input, which hooks and defaults may have changed from what the model gave. */
	readonly metadata: { readonly toolName: string; readonly input: Readonly<Record<string, unknown>> };
	readonly responseSchema: Readonly<Record<string, unknown>>;
}

/** A waiting call of a background task. The thread does not wait for it. */
export interface AgUiBackgroundCall {
	readonly toolCallId: string;
	readonly toolName: string;
	readonly input: Readonly<Record<string, unknown>>;
	readonly taskId: string;
	/**
	 * Set if the call waits for approval: the `interruptId` of its entry in `resume`. Other calls are answered by a tool
	 * message.
	 */
	readonly interruptId?: string;
	readonly responseSchema?: Readonly<Record<string, unknown>>;
}

/** Tokens that a model used in a run. */
export interface AgUiUsage {
	readonly model?: string;
	readonly inputTokens: number;
	readonly outputTokens: number;
	readonly totalTokens: number;
}

/** How a run ended. */
export type AgUiOutcome =
	| { readonly type: "success"; readonly pendingToolCallIds?: string[] }
	| { readonly type: "interrupt"; readonly interrupts: AgUiInterrupt[] }
	| { readonly type: "cancelled" };

interface OfRun {
	readonly threadId: string;
	readonly runId: string;
}

/** An event. */
export type AgUiEvent =
	| ({ readonly type: "RUN_STARTED"; readonly protocolVersion: "1.0" } & OfRun)
	| ({
			readonly type: "RUN_FINISHED";
			readonly outcome: AgUiOutcome;
			/** Set if the model did not end its last answer by itself. */
			readonly result?: { readonly stopReason: string };
			readonly usage?: AgUiUsage[];
	  } & OfRun)
	| { readonly type: "RUN_ERROR"; readonly message: string; readonly code: string }
	| { readonly type: "TEXT_MESSAGE_START"; readonly messageId: string; readonly role: "assistant" }
	| { readonly type: "TEXT_MESSAGE_CONTENT"; readonly messageId: string; readonly delta: string }
	| { readonly type: "TEXT_MESSAGE_END"; readonly messageId: string }
	| { readonly type: "REASONING_START" | "REASONING_END"; readonly messageId: string }
	| { readonly type: "REASONING_MESSAGE_START"; readonly messageId: string; readonly role: "reasoning" }
	| { readonly type: "REASONING_MESSAGE_CONTENT"; readonly messageId: string; readonly delta: string }
	| { readonly type: "REASONING_MESSAGE_END"; readonly messageId: string }
	| {
			readonly type: "TOOL_CALL_START";
			readonly toolCallId: string;
			readonly toolCallName: string;
			readonly parentMessageId: string;
	  }
	| { readonly type: "TOOL_CALL_ARGS"; readonly toolCallId: string; readonly delta: string }
	| { readonly type: "TOOL_CALL_END"; readonly toolCallId: string }
	| {
			readonly type: "TOOL_CALL_RESULT";
			readonly messageId: string;
			readonly toolCallId: string;
			readonly role: "tool";
			readonly content: string;
	  }
	| {
			readonly type: "CUSTOM";
			readonly name: "tool_execution_delta";
			readonly value: { readonly toolCallId: string; readonly delta: string };
	  }
	/** The run waits, and continues by itself if it waits `until` a time. */
	| {
			readonly type: "CUSTOM";
			readonly name: "waiting";
			readonly value: SessionWait & { readonly text: string };
	  }
	/** Calls of background tasks that are waiting when the run ends. */
	| {
			readonly type: "CUSTOM";
			readonly name: "background_calls";
			readonly value: readonly AgUiBackgroundCall[];
	  }
	/** The changed arguments of an emitted call, if its approval edited them. */
	| {
			readonly type: "CUSTOM";
			readonly name: "tool_input";
			readonly value: { readonly toolCallId: string; readonly input: unknown };
	  }
	/** An answer takes the place of these messages: a middleware replaced it, or it was cut off and generated again. */
	| {
			readonly type: "CUSTOM";
			readonly name: "messages_replaced";
			readonly value: { readonly messageIds: readonly string[]; readonly replacedBy: string };
	  }
	/** A page or a document that an answer cites, or a file that its model created. */
	| {
			readonly type: "CUSTOM";
			readonly name: "source" | "file";
			readonly value: Readonly<Record<string, unknown>>;
	  }
	| { readonly type: "CUSTOM"; readonly name: "resumed"; readonly value: null };
