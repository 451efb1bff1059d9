// What a tool tells of the sub-agent it runs, and the trace that stays of it. @see UAP 8.7, 8.8
import type { TokenUsage } from "@holdfast/upp";
import type { SubagentExecutionTrace, ToolExecutionTrace } from "../state/index.ts";

interface SubagentEventBase {
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

/** Something the sub-agent's own stream told. */
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

export type SubagentEvent = SubagentStartEvent | SubagentInnerEvent | SubagentEndEvent;

/** Whether a value told by a tool is an event of a sub-agent. */
export function isSubagentEvent(value: unknown): value is SubagentEvent {
	const event = value as Partial<SubagentEvent> | null;
	if (typeof event !== "object" || event === null || typeof event.subagentId !== "string") return false;
	return event.type === "subagent_start" || event.type === "subagent_event" || event.type === "subagent_end";
}

/** The trace of an execution, from its first and last event. */
function traceOf(start: SubagentStartEvent | undefined, end: SubagentEndEvent): SubagentExecutionTrace {
	return {
		subagentId: end.subagentId,
		subagentType: end.subagentType,
		parentToolCallId: end.parentToolCallId,
		prompt: start?.prompt ?? "",
		startTime: start?.timestamp ?? end.timestamp,
		endTime: end.timestamp,
		success: end.success,
		...(end.result === undefined ? {} : { result: end.result }),
		...(end.error === undefined ? {} : { error: end.error }),
		...(end.toolExecutions === undefined ? {} : { toolExecutions: end.toolExecutions }),
		...(end.usage === undefined ? {} : { usage: end.usage }),
	};
}

/** Collects the traces of sub-agents until the facts of their call are committed. */
export class TraceCollector {
	readonly #started = new Map<string, SubagentStartEvent>();
	#finished: SubagentExecutionTrace[] = [];

	tell(event: SubagentEvent): void {
		if (event.type === "subagent_start") this.#started.set(event.subagentId, event);
		if (event.type !== "subagent_end") return;
		this.#finished.push(traceOf(this.#started.get(event.subagentId), event));
		this.#started.delete(event.subagentId);
	}

	/** The traces finished since the last time. */
	take(): readonly SubagentExecutionTrace[] {
		if (this.#finished.length === 0) return this.#finished;
		const finished = this.#finished;
		this.#finished = [];
		return finished;
	}
}
