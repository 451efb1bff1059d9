// One round of tool calls: all calls of a message run concurrently, and each always gets a result.

import type { AssistantMessage, Tool, ToolCall, ToolExecution, ToolUseStrategy } from "../messages/index.ts";
import type { StreamEvent } from "../stream/index.ts";

/** The parts of a round other than the calls. */
export interface ToolRound {
	tools: readonly Tool[];
	strategy: ToolUseStrategy;
	signal: AbortSignal;
	emit(event: StreamEvent): void;
}

/** The context of a tool that `llm()` runs. */
export interface ToolRunContext {
	/** Id of the call, unique in the conversation. */
	toolCallId: string;
	/** Aborted when the turn is cancelled. */
	signal: AbortSignal;
}

/** Runs the calls of a message concurrently. The executions are in the order of the calls. */
export function runTools(message: AssistantMessage, round: ToolRound): Promise<ToolExecution[]> {
	const calls = message.toolCalls ?? [];
	return Promise.all(calls.map((call, index) => runTool(call, index, round)));
}

interface Outcome {
	result: unknown;
	isError: boolean;
	approved?: boolean;
}

async function runTool(call: ToolCall, index: number, round: ToolRound): Promise<ToolExecution> {
	const { toolCallId, toolName } = call;
	const delta = { toolCallId, toolName };
	const start = performance.now();
	round.emit({ type: "tool_execution_start", index, delta });
	const execution: ToolExecution = {
		toolName,
		toolCallId,
		arguments: call.arguments,
		...(await settle(call, round)),
		duration: 0,
	};
	execution.duration = performance.now() - start;
	round.emit({ type: "tool_execution_end", index, delta });
	return execution;
}

async function settle(call: ToolCall, round: ToolRound): Promise<Outcome> {
	const tool = round.tools.find((candidate) => candidate.name === call.toolName);
	if (tool === undefined) return failure(`There is no tool named "${call.toolName}".`);
	if (call.invalidArguments === "")
		return failure("The answer was cut off before this call was complete, so it was not run. Call it again.");
	if (call.invalidArguments !== undefined) {
		return failure(`The arguments are not a JSON object: ${call.invalidArguments}`);
	}
	try {
		return await run(tool, call, round);
	} catch (thrown) {
		const error = thrown instanceof Error ? thrown : new Error(String(thrown));
		await round.strategy.onError?.(tool, call.arguments, error);
		return failure(error.message);
	}
}

async function run(tool: Tool, call: ToolCall, round: ToolRound): Promise<Outcome> {
	const { strategy, signal } = round;
	await strategy.onToolCall?.(tool, call.arguments);
	const decision = (await strategy.onBeforeCall?.(tool, call.arguments)) ?? true;
	const proceed = typeof decision === "object" ? decision.proceed : decision;
	// Only a boolean decides, and there is no one to ask: anything except `true` refuses the call.
	if (proceed !== true) return refusal();
	const params = (typeof decision === "object" ? decision.params : undefined) ?? call.arguments;
	if (tool.approval !== undefined && (await tool.approval(params)) !== true) return refusal();
	signal.throwIfAborted();
	const context: ToolRunContext = { toolCallId: call.toolCallId, signal };
	const result = await tool.run(params, context);
	const replaced = await strategy.onAfterCall?.(tool, params, result);
	const asked = strategy.onBeforeCall !== undefined || tool.approval !== undefined;
	return { result: replaced ?? result, isError: false, ...(asked ? { approved: true } : {}) };
}

function failure(result: string): Outcome {
	return { result, isError: true };
}

function refusal(): Outcome {
	return { result: "This tool call was not allowed, so it was not run.", isError: true, approved: false };
}
