// The tools of a session, in stored form and in the form that its agent uses. A function is bound again by its tool's
// name, and a tool that once had a function never becomes a remote tool.
import { HoldfastError } from "@holdfast/upp";
import type { AgentOptions } from "../agent/index.ts";
import { workOf } from "../subagents/index.ts";
import {
	type AnyTool,
	type EngineTool,
	normaliseTools,
	type ToolSet,
	validatingSchema,
} from "../tools/index.ts";
import type { StoredTool } from "./session-setup.ts";

/** Returns the tools of a session: the given ones and the stored ones. */
export function boundTools(
	stored: readonly StoredTool[],
	given: AgentOptions["tools"],
	again: ReadonlyMap<string, EngineTool> | undefined,
	checkedSchema: (tool: Pick<StoredTool, "name" | "parameters">) => StoredTool["parameters"],
): readonly AnyTool[] {
	const own = normaliseTools(given);
	const registered = [...own.values()].map(({ name, source }) => ({ ...(source as AnyTool), name }));
	const kept = stored
		.filter(({ name }) => !own.has(name))
		.map(({ kind, ...tool }): AnyTool => {
			const found = again?.get(tool.name);
			if (found?.kind === kind) return bound(found, tool);
			if (kind === "local") return { ...tool, run: () => missing(tool.name) };
			return { ...tool, [validatingSchema]: checkedSchema(tool) } as AnyTool;
		});
	return [...registered, ...kept];
}

/** Returns the tool with that function, in the form it had when the session was created. */
function bound({ source, parameters }: EngineTool, tool: Omit<StoredTool, "kind">): AnyTool {
	if (JSON.stringify(parameters) === JSON.stringify(tool.parameters)) return { ...source, name: tool.name };
	const schema = "inputSchema" in source ? "inputSchema" : "parameters";
	return { ...source, ...tool, [schema]: tool.parameters };
}

/** A local tool whose function is missing never becomes a remote one. */
function missing(name: string): never {
	throw new HoldfastError(
		"tool_not_registered",
		`The tool "${name}" had a function when this session was created, but has none now. Register it again.`,
	);
}

/** Converts a tool to the form stored with a session. */
export function storedTool(tool: EngineTool): StoredTool {
	const { name, label, description, parameters, kind, timeoutMs, loadedBy, source } = tool;
	return {
		name,
		description,
		parameters,
		kind,
		...(label === undefined ? {} : { label }),
		...(timeoutMs === undefined ? {} : { timeoutMs }),
		...(loadedBy === undefined ? {} : { loadedBy }),
		...((source as AnyTool).needsApproval === true ? { needsApproval: true } : {}),
	};
}

/** Returns the tools of `createSubAgentTool`. They belong to the agent, because it opens their sessions before any turn. */
export function subagentTools(tools: ToolSet | undefined): readonly AnyTool[] {
	const all = [...normaliseTools(tools).values()].map(({ name, source }) => ({
		...(source as AnyTool),
		name,
	}));
	return all.filter((tool) => workOf(tool) !== undefined);
}
