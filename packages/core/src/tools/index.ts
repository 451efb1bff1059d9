// The door of tools: everything the engine and the package's entry points take from this folder.

export type {
	AnyTool,
	EngineTool,
	Reconciliation,
	RetryPolicy,
	ToolContext,
	ToolExecutionEvent,
	ToolOptions,
	ToolOutcome,
	ToolSchema,
	ToolSet,
	UnknownCall,
	ValidatedInput,
} from "./types.ts";
