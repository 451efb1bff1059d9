// The events that a tool reports about its sub-agent.
import type { TokenUsage } from "@holdfast/upp";
import type { ToolExecutionTrace } from "../state/index.ts";

/** The kinds of events of a sub-agent. */
export type SubagentEventType = "subagent_start" | "subagent_event" | "subagent_end";

/** The common fields of a sub-agent's events. */
export interface SubagentEventBase {
	/** The same in all events of one execution (UUIDv4). */
	readonly subagentId: string;
	/** The name of the sub-agent's kind. */
	readonly subagentType: string;
	/** The call of the parent that started it. */
	readonly parentToolCallId: string;
}

/** The sub-agent is about to start. */
export interface SubagentStartEvent extends SubagentEventBase {
	readonly type: "subagent_start";
	/** The task that it was given. */
	readonly prompt: string;
	/** In milliseconds since the epoch. */
	readonly timestamp: number;
}

/** An event of the sub-agent's own stream. */
export interface SubagentInnerEvent extends SubagentEventBase {
	readonly type: "subagent_event";
	/** An event of its `stream()`. */
	readonly innerEvent: unknown;
}

/** The sub-agent has ended, successfully or not. */
export interface SubagentEndEvent extends SubagentEventBase {
	readonly type: "subagent_end";
	/** Whether it returned an answer. */
	readonly success: boolean;
	/** The answer. */
	readonly result?: string;
	/** Why it failed. */
	readonly error?: string;
	/** In milliseconds since the epoch. */
	readonly timestamp: number;
	/** Its tool calls, in order. */
	readonly toolExecutions?: readonly ToolExecutionTrace[];
	/** The tokens that it used. */
	readonly usage?: TokenUsage;
}

/** A sub-agent's work as watchers see it: its start, its inner events, its end. */
export type SubagentEvent = SubagentStartEvent | SubagentInnerEvent | SubagentEndEvent;

/** Receives the events of a sub-agent as they happen. */
export type OnSubagentEvent = (event: SubagentEvent) => void;
