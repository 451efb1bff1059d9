/** The tool `update_plan`: it has no effect of its own. Chats show the plan that its input contains. */
import type { AssistantTool } from "./assistant-tool.ts";

/** Creates `update_plan`. */
export function createUpdatePlan(): AssistantTool {
	const step = {
		type: "object",
		properties: {
			text: { type: "string" },
			status: { type: "string", enum: ["pending", "in_progress", "done"] },
		},
		required: ["text", "status"],
		additionalProperties: false,
	};
	return {
		name: "update_plan",
		description:
			"Show the user your plan for work of several steps: all of its steps, each with its status. Call it again when a step begins or is done.",
		parameters: {
			type: "object",
			properties: { steps: { type: "array", items: step, minItems: 1, maxItems: 30 } },
			required: ["steps"],
			additionalProperties: false,
		},
		retryPolicy: "pure",
		maxModelCharacters: 200,
		run: async () => "The user sees the plan.",
	};
}
