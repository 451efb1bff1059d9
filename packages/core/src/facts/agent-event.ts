// The events of keyed sessions: what a run emits to its consumer (keyed sessions, AgentEvent).
import type { UserContent } from "@holdfast/upp";
import type { Placement } from "./fact.ts";
import type { SubagentJobEvent } from "./job-events.ts";
import type { PendingToolCall } from "./outside-answers.ts";

/** What a run emits to its consumer. @see keyed sessions, AgentEvent */
export type AgentEvent =
	| { readonly type: "user-text"; readonly text: string | readonly string[] }
	| { readonly type: "user-message"; readonly content: readonly UserContent[] }
	| {
			readonly type: "runtime-input";
			readonly input: AgentEvent;
			readonly placement: Exclude<Placement, "turn">;
	  }
	| { readonly type: "turn-start" }
	| { readonly type: "turn-end" }
	| { readonly type: "turn-abort" }
	/** The turn waits for answers to tool calls. */
	| { readonly type: "turn-waiting"; readonly toolCalls: readonly PendingToolCall[] }
	| { readonly type: "turn-error"; readonly message: string; readonly code: string }
	| { readonly type: "step-start" }
	| { readonly type: "step-end" }
	/** Context for this turn was accepted; it is not recorded. */
	| { readonly type: "overlay-accepted" }
	/** The turn's overlays are discarded. */
	| { readonly type: "overlay-expired" }
	| { readonly type: "assistant-text"; readonly text: string }
	| { readonly type: "assistant-reasoning"; readonly text: string }
	| {
			readonly type: "tool-call";
			readonly toolCallId: string;
			readonly toolName: string;
			readonly input: unknown;
	  }
	| {
			readonly type: "tool-result";
			readonly toolCallId: string;
			readonly toolName: string;
			readonly output: unknown;
			readonly isError?: true;
	  }
	| SubagentJobEvent;
