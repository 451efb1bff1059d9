// The door of the tools that run here.

export { type Answerer, type Approval, type Approve, createAnswerer } from "./answerer.ts";
export {
	type ClientTool,
	type ClientToolContext,
	describeTool,
	readTools,
	type ToolExecutionEvent,
	type ToolParameters,
} from "./client-tool.ts";
