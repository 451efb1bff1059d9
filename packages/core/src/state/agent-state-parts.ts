// The parts of a state, visible only to the core, and the ids of all calls in one.
import type { Message, TokenUsage, ToolCall } from "@holdfast/upp";
import { IdSet } from "./id-set.ts";
import type { List } from "./list.ts";
import type { PlanStep } from "./plan-step.ts";
import type { SubagentExecutionTrace } from "./subagent-trace.ts";

/** The parts of a state; internal to the core. */
export interface AgentStateParts {
	readonly messages: List<Message>;
	readonly step: number;
	readonly metadata: Readonly<Record<string, unknown>>;
	readonly reasoning: List<string>;
	readonly plan: readonly PlanStep[] | undefined;
	readonly usage: TokenUsage | undefined;
	readonly subagentTraces: List<SubagentExecutionTrace> | undefined;
	/** Ids of all earlier calls; undefined until first used. */
	readonly callIds: IdSet | undefined;
	/** The names of the tools that were loaded, in order. */
	readonly loadedTools: readonly string[];
}

/** Returns the names of the loaded tools with further ones at the end. */
export function withLoaded(before: readonly string[], names: readonly string[]): readonly string[] {
	const all = new Set(before);
	for (const name of names) all.add(name);
	return all.size === before.length ? before : [...all];
}

/** No tools are loaded. */
export const noneLoaded: readonly string[] = Object.freeze([]);

/** Returns the ids of all calls so far, including those of messages that were removed. */
export function callIdsOf({ callIds, messages }: Pick<AgentStateParts, "callIds" | "messages">): IdSet {
	if (callIds !== undefined) return callIds;
	let all = IdSet.empty();
	for (const message of messages.from(0)) {
		const { toolCalls } = message as { toolCalls?: readonly ToolCall[] };
		if (toolCalls !== undefined) all = withCalls(all, toolCalls);
	}
	return all;
}

/** Returns the ids with those of the calls added. */
export function withCalls(ids: IdSet, calls: readonly ToolCall[]): IdSet {
	let all = ids;
	for (const { toolCallId } of calls) all = all.add(toolCallId);
	return all;
}
