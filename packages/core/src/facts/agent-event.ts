// The events that a run emits to its consumer.
import type { StopReason } from "@holdfast/upp";
import type { KnownTool, KnownTools } from "../tools/index.ts";
import type { PendingWait, Placement } from "./fact.ts";
import type { InputPart } from "./input-part.ts";
import type { SubagentJobEvent } from "./job-events.ts";
import type { PendingToolCall } from "./outside-answers.ts";

/** A call of one of these tools. */
type CallEvent<Tool extends KnownTool> = Tool extends KnownTool
	? {
			readonly type: "tool-call";
			readonly toolCallId: string;
			readonly toolName: Tool["name"];
			/** The input passed to the tool. If the call was refused, the model's input, and the result has `isError`. */
			readonly input: Tool["input"];
		}
	: never;

/** The result of one of these tools. */
type ResultEvent<Tool extends KnownTool> = Tool extends KnownTool
	? {
			readonly type: "tool-result";
			readonly toolCallId: string;
			readonly toolName: Tool["name"];
		} & (unknown extends Tool["output"]
			? { readonly output: unknown; readonly isError?: true }
			:
					| { readonly output: Tool["output"]; readonly isError?: never }
					| { readonly output: unknown; readonly isError: true })
	: never;

/**
 * The events that a run emits to its consumer. If the agent's tools have types, `event.toolName` determines the types of
 * input and output. Tools of plugins and sub-agents also occur; the types do not include them.
 */
export type AgentEvent<Tools = unknown, Output = unknown> =
	/** The input of the turn. */
	| { readonly type: "user-text"; readonly text: string | readonly string[] }
	/** The parts of the input in their original form, with bytes as base64. */
	| { readonly type: "user-message"; readonly content: readonly InputPart[] }
	/** A further input entered the turn: a steer or a notification. */
	| {
			readonly type: "runtime-input";
			readonly input: AgentEvent;
			readonly placement: Exclude<Placement, "turn">;
	  }
	| { readonly type: "turn-start" }
	/** `output`: the structured answer, if the agent has the option `output`. */
	/** `stopReason`: why the model stopped its last answer, if it is not `stop`. */
	| { readonly type: "turn-end"; readonly output?: Output; readonly stopReason?: StopReason }
	/** The turn was stopped. */
	| { readonly type: "turn-abort" }
	/** Calls wait for an answer while others still run. `answer()` already accepts it. */
	| { readonly type: "tools-pending"; readonly toolCalls: readonly PendingToolCall[] }
	/** The turn waits for answers to tool calls. If `wait` is set, it waits for a time or for its model. */
	| {
			readonly type: "turn-waiting";
			readonly toolCalls: readonly PendingToolCall[];
			readonly wait?: PendingWait;
	  }
	/** This many earlier events were dropped because they were not consumed; the journal is complete. */
	| { readonly type: "events-dropped"; readonly count: number }
	/** The turn failed. */
	| { readonly type: "turn-error"; readonly message: string; readonly code: string }
	/** A step starts: a model call with its tool calls. */
	| { readonly type: "step-start" }
	| { readonly type: "step-end" }
	/** Context for this turn was accepted; it is not recorded. */
	| { readonly type: "overlay-accepted" }
	/** The turn's overlays are discarded. */
	| { readonly type: "overlay-expired" }
	/** A text of an answer, which is committed. */
	| { readonly type: "assistant-text"; readonly text: string }
	/** The reasoning of an answer. */
	| { readonly type: "assistant-reasoning"; readonly text: string }
	| CallEvent<KnownTools<Tools>>
	| ResultEvent<KnownTools<Tools>>
	| SubagentJobEvent;
