// The order of tool calls as a list of groups, for strategies that run tools themselves. The engine does not use it: it
// starts each call as soon as its dependencies have settled. Pure, and linear in the number of calls and dependencies.
import type { Tool, ToolCall } from "@holdfast/upp";

/** How a tool's calls are ordered within a round. */
export interface ToolDependencyOptions {
	/** Its calls run alone, with no other call at the same time. Default false. */
	readonly sequential?: boolean;
	/** Names of tools whose calls must run first. Default none. */
	readonly dependsOn?: readonly string[];
}

/** A tool that may declare the order of its calls. */
export type ToolWithDependencies = Tool & ToolDependencyOptions;

/** A call that may name the calls it runs after. */
export interface OrderedToolCall extends ToolCall {
	/** Ids of calls of the same round that must run first. */
	after?: string[];
}

/** Calls that run concurrently, after those of the earlier groups. */
export interface ExecutionGroup {
	/** The calls, in the order of the round. */
	readonly calls: ToolCall[];
	/** Whether it consists of one call of a `sequential` tool. */
	readonly isBarrier: boolean;
}

/** The tools of a round, as a list or by name. */
type Tools = readonly ToolWithDependencies[] | ReadonlyMap<string, ToolWithDependencies>;

/** Whether any of the tools is `sequential` or depends on another. */
export function hasToolDependencies(tools: Tools): boolean {
	for (const { sequential, dependsOn = [] } of tools.values()) {
		if (sequential === true || dependsOn.length > 0) return true;
	}
	return false;
}

/** Whether any of the calls has `after`. */
export function hasCallDependencies(calls: readonly OrderedToolCall[]): boolean {
	return calls.some(({ after = [] }) => after.length > 0);
}

/**
 * Orders the calls of one round into groups that run one after the other. Calls that are ready form one group; if they
 * include a call of a `sequential` tool, each becomes its own group, in call order. Names and ids that are not in the
 * round are ignored. Calls that wait for each other in a cycle form one last group.
 *
 * @example
 * import { orderToolCalls } from "holdfast/compat";
 *
 * const call = (toolCallId: string, toolName: string) => ({ toolCallId, toolName, arguments: {} });
 * const reader = (name: string) => ({ name, description: name, parameters: { type: "object" }, run: () => name });
 * const tools = [reader("read"), { ...reader("write"), dependsOn: ["read"] }];
 * const groups = orderToolCalls([call("1", "write"), call("2", "read"), call("3", "read")], tools);
 * console.log(groups.map(({ calls }) => calls.map(({ toolCallId }) => toolCallId))); // [["2", "3"], ["1"]]
 */
export function orderToolCalls(calls: readonly OrderedToolCall[], tools: Tools): ExecutionGroup[] {
	const byName = toolsByName(tools);
	const waiting = waitingOf(calls, byName);
	const groups: ExecutionGroup[] = [];
	const left = new Set(calls.keys());
	let ready = [...left].filter((at) => waiting.open[at] === 0);
	while (ready.length > 0) {
		const group = ready.map((at) => calls[at] as OrderedToolCall);
		const isBarrier = (call: ToolCall): boolean => byName.get(call.toolName)?.sequential === true;
		if (!group.some(isBarrier)) groups.push({ calls: group, isBarrier: false });
		else for (const call of group) groups.push({ calls: [call], isBarrier: isBarrier(call) });
		for (const at of ready) left.delete(at);
		ready = waiting.ran(group);
	}
	if (left.size > 0)
		groups.push({ calls: [...left].map((at) => calls[at] as OrderedToolCall), isBarrier: false });
	return groups;
}

/** Indexes tools by name. If two share a name, the last one wins. */
export function toolsByName<Given extends { readonly name: string }>(
	tools: readonly Given[] | ReadonlyMap<string, Given>,
): ReadonlyMap<string, Given> {
	return tools instanceof Map ? tools : new Map([...tools.values()].map((tool) => [tool.name, tool]));
}

interface Waiting {
	/** How many names and ids each call still waits for. */
	readonly open: number[];
	/** Records that calls have run. Returns the positions of those that are now ready, in call order. */
	ran(calls: readonly ToolCall[]): number[];
}

function waitingOf(
	calls: readonly OrderedToolCall[],
	tools: ReadonlyMap<string, ToolWithDependencies>,
): Waiting {
	const waiters = new Map<string, number[]>();
	for (const { toolCallId, toolName } of calls) {
		waiters.set(`id ${toolCallId}`, []).set(`name ${toolName}`, []);
	}
	const open = calls.map(({ toolName, after = [] }, at) => {
		const names = (tools.get(toolName)?.dependsOn ?? []).map((name) => `name ${name}`);
		const waits = new Set([...names, ...after.map((id) => `id ${id}`)]);
		let count = 0;
		for (const wait of waits) if (waiters.get(wait)?.push(at) !== undefined) count++;
		return count;
	});
	return {
		open,
		ran(group) {
			const freed: number[] = [];
			for (const { toolCallId, toolName } of group) {
				for (const wait of [`id ${toolCallId}`, `name ${toolName}`]) {
					for (const at of waiters.get(wait) ?? []) {
						open[at] = (open[at] as number) - 1;
						if (open[at] === 0) freed.push(at);
					}
					waiters.delete(wait);
				}
			}
			return freed.sort((one, other) => one - other);
		},
	};
}
