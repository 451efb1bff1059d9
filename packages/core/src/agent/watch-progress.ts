// Tracks a sub-agent's progress from its own events, for the trace of one that fails before its end.
import type { TokenUsage, ToolCall } from "@holdfast/upp";
import type { AgentStreamEvent } from "../engine/index.ts";
import { executionTrace, type Observation } from "../engine/index.ts";
import type { ToolExecutionTrace } from "../state/index.ts";

/** What is known about a sub-agent before its end. */
export interface Progress {
	see(event: AgentStreamEvent): void;
	/** Returns the tool calls of the completed steps, and the tokens they used. */
	soFar(): { toolExecutions: readonly ToolExecutionTrace[]; usage?: TokenUsage };
}

/** Watches one execution. */
export function watchProgress(): Progress {
	const calls = new Map<string, ToolCall>();
	const toolExecutions: ToolExecutionTrace[] = [];
	let usage: TokenUsage | undefined;
	return {
		see({ uap }) {
			if (uap?.type === "action") {
				for (const call of uap.data.toolCalls as readonly ToolCall[]) calls.set(call.toolCallId, call);
			} else if (uap?.type === "observation") {
				for (const result of uap.data.results as readonly Omit<Observation, "arguments">[]) {
					const arguments_ = calls.get(result.toolCallId)?.arguments ?? {};
					toolExecutions.push(executionTrace({ ...result, arguments: arguments_ }));
				}
				calls.clear();
			} else if (uap?.type === "step_end") {
				usage = (uap.data.usage as TokenUsage | undefined) ?? usage;
			}
		},
		soFar: () => ({ toolExecutions, ...(usage === undefined ? {} : { usage }) }),
	};
}
