// The door of tools: everything the engine and the package's entry points take from this folder.

export { executeOrderedToolCalls } from "./execute-ordered.ts";
export { isLocalTool, normaliseTool, normaliseTools } from "./normalise-tool.ts";
export { runTool } from "./run-tool.ts";
export { type ShownResult, shownToModel } from "./shown-to-model.ts";
export {
	type AgentTool,
	createSimpleTool,
	type DeclaredTool,
	type SimpleTool,
	type ToolDeclaration,
	type ToolExecutionEventStream,
	type ToolOutput,
	type TypedSchema,
	tool,
} from "./tool.ts";
export { injectToolContext, isContextAwareTool, withToolContext } from "./tool-context.ts";
export {
	hasCallDependencies,
	hasToolDependencies,
	type OrderedCall,
	type OrderedTool,
	type OrderedTools,
	orderToolCalls,
	type ToolOrder,
} from "./tool-order.ts";
export type {
	AnyTool,
	Approval,
	EngineTool,
	Reconciliation,
	RetryPolicy,
	ToolContext,
	ToolExecutionEvent,
	ToolForm,
	ToolOptions,
	ToolOutcome,
	ToolSet,
	UnknownCall,
	ValidatedInput,
} from "./types.ts";
