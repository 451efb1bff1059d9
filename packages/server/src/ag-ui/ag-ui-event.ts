// The events of this server in AG-UI, protocol version 1.0. The types need no package; a type test compares them with the
// real package.

import type { SessionWait } from "holdfast/execute";

/** A wait of a run other than for results of the front end's tools. */
export interface AgUiInterrupt {
	readonly id: string;
	readonly reason: string;
	readonly message: string;
	readonly toolCallId: string;
	/** The tool, and what it gets: hooks and defaults may have made it differ from what the model gave. */
	readonly metadata: { readonly toolName: string; readonly input: Readonly<Record<string, unknown>> };
	readonly responseSchema: Readonly<Record<string, unknown>>;
}

/** A call of a task in the background that waits. The thread does not wait for it. */
export interface AgUiBackgroundCall {
	readonly toolCallId: string;
	readonly toolName: string;
	readonly input: Readonly<Record<string, unknown>>;
	readonly taskId: string;
	/** Set where it waits for approval: the `interruptId` of its entry in `resume`. Others are answered by a tool message. */
	readonly interruptId?: string;
	readonly responseSchema?: Readonly<Record<string, unknown>>;
}

/** Tokens of a model in a run. */
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
			/** Set where the model did not stop its last answer by itself. */
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
	/** The run waits, and continues by itself where it waits `until` a time. */
	| {
			readonly type: "CUSTOM";
			readonly name: "waiting";
			readonly value: SessionWait & { readonly text: string };
	  }
	/** Calls of tasks in the background that wait as the run ends. */
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
	/** A page or a document that an answer names, or a file that its model made. */
	| {
			readonly type: "CUSTOM";
			readonly name: "source" | "file";
			readonly value: Readonly<Record<string, unknown>>;
	  }
	| { readonly type: "CUSTOM"; readonly name: "resumed"; readonly value: null };
