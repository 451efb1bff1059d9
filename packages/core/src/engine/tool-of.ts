// Finds the tool of a call. A provider's own tool that requires approval is represented by a tool whose run grants the
// permission.
import type { ToolCall } from "@holdfast/upp";
import { type EngineTool, normaliseTools } from "../tools/index.ts";
import type { EngineAgent } from "./engine-agent.ts";

/** Returns the tool of a call; undefined if the agent has no tool of that name. */
export function toolOf(agent: Pick<EngineAgent, "tools">, call: ToolCall): EngineTool | undefined {
	return call.approvalId === undefined ? agent.tools.get(call.toolName) : asking(call.toolName);
}

let approving: EngineTool | undefined;

/**
 * Running it grants the permission, which the provider receives with the next model call; the provider then runs the tool
 * itself. Made when first used: checking a tool takes a tenth of the time of loading all modules.
 */
function asking(name: string): EngineTool {
	approving ??= normaliseTools([
		{
			name: "approve",
			description: "A tool that the model's provider runs once it is approved.",
			parameters: { type: "object" },
			needsApproval: true,
			retryPolicy: "pure",
			run: () => "Approved: the provider runs the tool.",
		},
	]).get("approve") as EngineTool;
	return { ...approving, name };
}
