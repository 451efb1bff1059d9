// Carries out the calls of one round in their order; for strategies that run tools themselves.

import type { ToolResult } from "@holdfast/upp";
import { describeError } from "./run-tool.ts";
import { type OrderedCall, type OrderedTool, orderToolCalls } from "./tool-order.ts";

/**
 * Executes the calls of a round, those that nothing holds back at the same time, each other once all it waits for
 * has settled. Calls that wait for themselves get an error result, and so does a call whose `execute` rejects.
 *
 * @returns one result a call, in call order.
 * @see UAP 8.5, 8.6
 */
export async function executeOrderedToolCalls<Call extends OrderedCall, Tool extends OrderedTool>(
	calls: readonly Call[],
	tools: ReadonlyMap<string, Tool> | readonly Tool[],
	execute: (call: Call, tool: Tool | undefined) => ToolResult | Promise<ToolResult>,
): Promise<ToolResult[]> {
	const { waitsFor, cyclic } = orderToolCalls(calls, tools);
	const byName = tools instanceof Map ? tools : new Map([...tools.values()].map((tool) => [tool.name, tool]));
	const byId = new Map(calls.map((call) => [call.toolCallId, call]));
	const settled = new Map<Call, Promise<ToolResult>>();

	function settle(call: Call): Promise<ToolResult> {
		let result = settled.get(call);
		if (result === undefined) {
			result = carryOut(call);
			settled.set(call, result);
		}
		return result;
	}

	async function carryOut(call: Call): Promise<ToolResult> {
		const { toolCallId, toolName } = call;
		const cycle = cyclic.get(toolCallId);
		if (cycle !== undefined) return { toolCallId, result: cycle, isError: true };
		const waits = waitsFor.get(toolCallId);
		if (waits !== undefined) await Promise.all(waits.map((id) => settle(byId.get(id) as Call)));
		try {
			return await execute(call, byName.get(toolName) as Tool | undefined);
		} catch (error) {
			return { toolCallId, result: describeError(error), isError: true };
		}
	}

	// What may start at once starts in call order, before anything is waited for.
	for (const call of calls) if (!waitsFor.has(call.toolCallId)) settle(call);
	return Promise.all(calls.map(settle));
}
