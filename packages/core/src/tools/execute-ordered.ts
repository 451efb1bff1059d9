// Runs the calls of one round group by group, for strategies that run tools themselves.
import type { Tool, ToolCall } from "@holdfast/upp";
import {
	type OrderedToolCall,
	orderToolCalls,
	type ToolWithDependencies,
	toolsByName,
} from "./execution-groups.ts";
import { describeError } from "./run-tool.ts";

/** Runs one call with its tool. If it rejects, the call has failed. */
export type ToolExecutor = (call: ToolCall, tool: Tool) => Promise<unknown>;

/** The outcome of one call. */
export interface ToolExecutionResult {
	/** The call. */
	readonly call: ToolCall;
	/** The executor's result; `null` for a failed call. */
	readonly result: unknown;
	/** Whether it failed. */
	readonly isError: boolean;
	/** The reason it failed. */
	readonly error?: string;
	/** In milliseconds. */
	readonly duration: number;
}

/**
 * Executes the calls of a round in the order of `orderToolCalls`: the calls of a group concurrently, the groups one after
 * the other. A call of an unknown tool fails without calling the executor.
 *
 * @returns one result per call, in call order.
 */
export async function executeOrderedToolCalls(
	calls: readonly OrderedToolCall[],
	tools: readonly ToolWithDependencies[] | ReadonlyMap<string, ToolWithDependencies>,
	executor: ToolExecutor,
): Promise<ToolExecutionResult[]> {
	const byName = toolsByName(tools);
	const results = new Map<ToolCall, ToolExecutionResult>();
	const carryOut = async (call: ToolCall): Promise<void> => {
		results.set(call, await execute(call, byName.get(call.toolName), executor));
	};
	for (const group of orderToolCalls(calls, byName)) await Promise.all(group.calls.map(carryOut));
	return calls.map((call) => results.get(call) as ToolExecutionResult);
}

async function execute(
	call: ToolCall,
	tool: Tool | undefined,
	executor: ToolExecutor,
): Promise<ToolExecutionResult> {
	if (tool === undefined)
		return { call, result: null, isError: true, error: `Tool not found: ${call.toolName}`, duration: 0 };
	const start = performance.now();
	const took = (): number => performance.now() - start;
	try {
		const result = await executor(call, tool);
		return { call, result, isError: false, duration: took() };
	} catch (error) {
		return { call, result: null, isError: true, error: describeError(error), duration: took() };
	}
}
