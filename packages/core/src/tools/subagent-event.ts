// The events that a tool reports about the sub-agent it runs.
import type { TokenUsage } from "@holdfast/upp";
import type { ToolExecutionTrace } from "../state/index.ts";

/** The kinds of events of a sub-agent. */
export type SubagentEventType = "subagent_start" | "subagent_event" | "subagent_end";

/** The common fields of a sub-agent's events. */
export interface SubagentEventBase {
	/** The same in all events of one execution (UUIDv4). */
	readonly subagentId: string;
	/** Name of the sub-agent's kind. */
	readonly subagentType: string;
	/** The call of the parent that spawned it. */
	readonly parentToolCallId: string;
}

/** Execution is about to begin. */
export interface SubagentStartEvent extends SubagentEventBase {
	readonly type: "subagent_start";
	readonly prompt: string;
	/** Milliseconds since the epoch. */
	readonly timestamp: number;
}

/** An event of the sub-agent's own stream. */
export interface SubagentInnerEvent extends SubagentEventBase {
	readonly type: "subagent_event";
	readonly innerEvent: unknown;
}

/** Execution has ended, well or not. */
export interface SubagentEndEvent extends SubagentEventBase {
	readonly type: "subagent_end";
	readonly success: boolean;
	readonly result?: string;
	readonly error?: string;
	/** Milliseconds since the epoch. */
	readonly timestamp: number;
	readonly toolExecutions?: readonly ToolExecutionTrace[];
	readonly usage?: TokenUsage;
}

/** A sub-agent's work as watchers see it: its start, its inner events, its end. */
export type SubagentEvent = SubagentStartEvent | SubagentInnerEvent | SubagentEndEvent;

/** Takes what a sub-agent does, while it does it. */
export type OnSubagentEvent = (event: SubagentEvent) => void;
