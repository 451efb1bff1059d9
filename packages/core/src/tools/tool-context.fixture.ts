// A tool context for tests: one call of one tool, with the test's overrides.

import type { ToolContext } from "./types.ts";

/** A context with plain values. */
export function contextOf(own: Partial<ToolContext> = {}): ToolContext {
	return {
		toolCallId: "call_1",
		toolName: "tool",
		signal: new AbortController().signal,
		attempt: 1,
		idempotencyKey: "key_1",
		retryPolicy: "manual-recovery",
		step: 1,
		agentId: "agent_1",
		stateId: "state_1",
		runId: "run_1",
		emit() {},
		onSubagentEvent() {},
		messages: [],
		...own,
	};
}
