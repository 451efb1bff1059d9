// The answers and results of a model that runs tools itself, as facts.
import {
	type AssistantMessage,
	emptyUsage,
	isAssistantMessage,
	isToolResultMessage,
	type ToolCall,
	type ToolExecution,
	type ToolResult,
} from "@holdfast/upp";
import type { Fact } from "../facts/index.ts";
import type { CallIds } from "./call-ids.ts";
import type { EngineResponse } from "./engine-agent.ts";
import type { Run } from "./run.ts";
import { untilAnswered } from "./until-answered.ts";
import { withNamedCalls } from "./usable-calls.ts";

/** Returns a result for each call, in the order of the calls. */
export function settledResults(
	step: number,
	{ toolCalls = [] }: AssistantMessage,
	results: readonly ToolResult[],
): readonly Fact[] {
	return results.map(({ toolCallId, result, isError }, at) =>
		settled(step, toolCalls[at]?.toolCallId ?? toolCallId, isError === true, result, 0),
	);
}

function settled(step: number, callId: string, isError: boolean, result: unknown, duration: number): Fact {
	return { kind: "tool.settled", step, callId, outcome: isError ? "error" : "done", result, duration };
}

/** A model that runs tools itself has already done so: its rounds become facts before its answer. */
export async function recordPreceding(
	run: Run,
	step: number,
	tag: string,
	modelId: string,
	response: EngineResponse,
	ids: CallIds,
): Promise<void> {
	const { preceding } = response;
	if (preceding === undefined) return;
	const own = new Set(response.message.toolCalls?.map(({ toolCallId }) => toolCallId));
	const executions = (response.executions ?? []).filter(({ toolCallId }) => !own.has(toolCallId));
	const { hooks, ports } = run.agent;
	const facts: Fact[] = [];
	const unsaid = new Map(executions.map((each) => [each.toolCallId, each]));
	let named = new Map<string, string>();
	for (const given of preceding) {
		const message = isAssistantMessage(given) ? withNamedCalls(given, ids, modelId) : given;
		if (isAssistantMessage(message)) {
			named = new Map(
				message.toolCalls?.map((call) => [call.providerCall?.id ?? call.toolCallId, call.toolCallId]),
			);
			const resultsId = message.hasToolCalls ? { resultsId: ports.ids.uuid() } : {};
			const usage = emptyUsage();
			const answer = {
				kind: "assistant",
				step,
				tag,
				continues: true,
				message,
				usage,
				modelId,
				duration: 0,
			} as const;
			facts.push({ ...answer, stopReason: message.hasToolCalls ? "tool_calls" : "stop", ...resultsId });
			if (message.toolCalls !== undefined)
				await untilAnswered(run, () => hooks.onAct?.(step, message.toolCalls ?? []));
		}
		if (!isToolResultMessage(message)) continue;
		for (const { toolCallId, result, isError } of message.results) {
			const duration = unsaid.get(toolCallId)?.duration ?? 0;
			unsaid.delete(toolCallId);
			facts.push(settled(step, named.get(toolCallId) ?? toolCallId, isError === true, result, duration));
		}
	}
	// Calls that ran without appearing in a message stay out of the history, like those of a strategy.
	const unsaidCalls = [...unsaid.values()];
	const calls = ids.named(unsaidCalls.map(pick), modelId);
	if (calls.length > 0) {
		facts.push({ kind: "tools.requested", step, tag, calls, continues: true });
		for (const [at, { toolCallId }] of calls.entries()) {
			const { isError, result, duration } = unsaidCalls[at] as ToolExecution;
			facts.push(settled(step, toolCallId, isError === true, result, duration));
		}
		await untilAnswered(run, () => hooks.onAct?.(step, calls));
	}
	if (facts.length === 0) return;
	const committed = run.commit(facts);
	if (committed instanceof Promise) await committed;
	if (executions.length > 0) {
		const observations = executions.map((each) => ({ ...each, isError: each.isError === true }));
		await untilAnswered(run, () => hooks.onObserve?.(step, observations));
	}
}

function pick({ toolCallId, toolName, arguments: input }: ToolCall): ToolCall {
	return { toolCallId, toolName, arguments: input };
}
