// Derives a compact trace from what a tool reports about the sub-agent that it runs.
import type { TokenUsage, ToolExecution } from "@holdfast/upp";
import type { SubagentExecutionTrace, ToolExecutionTrace } from "../state/index.ts";
import type { SubagentEndEvent, SubagentEvent, SubagentStartEvent } from "../tools/index.ts";

/** Whether a value reported by a tool is an event of a sub-agent. */
export function isSubagentEvent(value: unknown): value is SubagentEvent {
	const event = value as Partial<SubagentEvent> | null;
	if (typeof event !== "object" || event === null) return false;
	if (typeof event.subagentId !== "string" || event.subagentId === "") return false;
	return event.type === "subagent_start" || event.type === "subagent_event" || event.type === "subagent_end";
}

/** Converts a tool's execution to its form in traces. */
export function executionTrace(execution: Partial<ToolExecution> | null): ToolExecutionTrace {
	const { toolName, toolCallId, arguments: given, result, isError, duration } = execution ?? {};
	return {
		toolName: textOf(toolName),
		...(typeof toolCallId === "string" ? { toolCallId } : {}),
		arguments: typeof given === "object" && given !== null ? given : {},
		result: textOf(result),
		...(typeof isError === "boolean" ? { isError } : {}),
		...(typeof duration === "number" ? { duration: Math.round(duration) } : {}),
	};
}

/**
 * Builds the trace of an execution from its first and last event. Any tool may report these, so malformed parts are
 * corrected or left out: a trace must never make a state unreadable.
 */
function traceOf(start: SubagentStartEvent | undefined, end: SubagentEndEvent): SubagentExecutionTrace {
	const endTime = instantOf(end.timestamp, Date.now());
	const { toolExecutions, usage } = end;
	return {
		subagentId: end.subagentId,
		subagentType: textOf(end.subagentType),
		parentToolCallId: textOf(end.parentToolCallId),
		prompt: textOf(start?.prompt),
		startTime: instantOf(start?.timestamp, endTime),
		endTime,
		success: end.success === true,
		...(end.result === undefined ? {} : { result: textOf(end.result) }),
		...(end.error === undefined ? {} : { error: textOf(end.error) }),
		...(Array.isArray(toolExecutions)
			? { toolExecutions: toolExecutions.map((each) => executionTrace(each)) }
			: {}),
		...(isUsage(usage) ? { usage } : {}),
	};
}

function textOf(value: unknown): string {
	if (typeof value === "string") return value;
	if (value instanceof Error) return value.message;
	try {
		return JSON.stringify(value) ?? "";
	} catch {
		return String(value);
	}
}

function instantOf(value: unknown, otherwise: number): number {
	const time = Math.round(Number(value));
	return value === undefined || Number.isNaN(new Date(time).getTime()) ? otherwise : time;
}

function isUsage(value: TokenUsage | undefined): value is TokenUsage {
	if (!areNumbers(value?.inputTokens, value?.outputTokens, value?.totalTokens)) return false;
	const { cacheReadTokens = 0, cacheWriteTokens = 0, reasoningTokens = 0, cycles = [] } = value as TokenUsage;
	if (!areNumbers(cacheReadTokens, cacheWriteTokens, reasoningTokens) || !Array.isArray(cycles)) return false;
	return cycles.every((cycle) => areNumbers(cycle?.inputTokens, cycle?.outputTokens));
}

function areNumbers(...values: readonly unknown[]): boolean {
	return values.every((value) => typeof value === "number");
}

/** Collects the traces of sub-agents until the facts of their call are committed. */
export class TraceCollector {
	readonly #started = new Map<string, SubagentStartEvent>();
	#finished: SubagentExecutionTrace[] = [];

	notify(event: SubagentEvent): void {
		if (event.type === "subagent_start") this.#started.set(event.subagentId, event);
		if (event.type !== "subagent_end") return;
		this.#finished.push(traceOf(this.#started.get(event.subagentId), event));
		this.#started.delete(event.subagentId);
	}

	/** Stops waiting for the running sub-agents and marks them as failed for this reason. */
	cut(reason: string): void {
		for (const start of this.#started.values()) {
			const end = { success: false, error: reason, timestamp: Date.now() } as const;
			this.#finished.push(traceOf(start, { ...start, ...end, type: "subagent_end" }));
		}
		this.#started.clear();
	}

	/** Returns the traces finished since the last call. */
	take(): readonly SubagentExecutionTrace[] {
		if (this.#finished.length === 0) return this.#finished;
		const finished = this.#finished;
		this.#finished = [];
		return finished;
	}
}
