// The door of tools: everything the engine and the package's entry points take from this folder.
export { normaliseTools } from "./normalise-tool.ts";
export { plainDetails, plainJson } from "./plain-json.ts";
export { runTool } from "./run-tool.ts";
export { shownToModel } from "./shown-to-model.ts";
export { tool } from "./tool.ts";
export { validatingSchema } from "./tool-input.ts";
export { orderToolCalls } from "./tool-order.ts";
export type {
	AnyTool,
	Approval,
	ApprovalContext,
	EngineTool,
	RetryPolicy,
	ToolContext,
	ToolOptions,
	ToolOutcome,
	ToolSet,
} from "./types.ts";
