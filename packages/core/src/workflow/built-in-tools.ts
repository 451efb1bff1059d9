// The tools behind `flow.approve` and `flow.ask`: calls that a person approves or answers like those of any agent.
import type { AnyTool } from "../tools/index.ts";

/** Name of the tool of `flow.approve`. */
export const approveTool = "workflow_approve";
/** Name of the tool of `flow.ask`. */
export const askTool = "workflow_ask";

/** Name of the tool of `flow.model`. */
export const modelTool = "workflow_model";

export const builtInTools: readonly AnyTool[] = [
	{
		name: approveTool,
		description: "Approves a step of a workflow.",
		parameters: { type: "object", properties: { name: { type: "string" }, details: {} }, required: ["name"] },
		needsApproval: true,
		retryPolicy: "pure",
		run: () => true,
	},
	{
		name: askTool,
		description: "Answers a question of a workflow.",
		parameters: {
			type: "object",
			properties: { question: { type: "string" }, details: {} },
			required: ["question"],
		},
	},
];
