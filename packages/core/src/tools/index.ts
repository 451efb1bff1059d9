// The entry point of tools for the engine and the package's entry points.
export { normaliseTools } from "./normalise-tool.ts";
export { plainDetails, plainJson } from "./plain-json.ts";
export { plainOutcome, runTool, stackOf, withinItsTime } from "./run-tool.ts";
export { isShownWhole, shownToModel } from "./shown-to-model.ts";
export type {
	OnSubagentEvent,
	SubagentEndEvent,
	SubagentEvent,
	SubagentStartEvent,
} from "./subagent-event.ts";
export { tool } from "./tool.ts";
export { readToolInput, type ToolInput, validatingSchema } from "./tool-input.ts";
export { orderRound } from "./tool-order.ts";
export type { InferToolInput, InferToolOutput, KnownTool, KnownTools, Plain } from "./tool-types.ts";
export type {
	AnyTool,
	Approval,
	ApprovalContext,
	EngineTool,
	LoadableTools,
	Reconciliation,
	RetryPolicy,
	ToolContext,
	ToolOptions,
	ToolOutcome,
	ToolSet,
	ValidatedInput,
} from "./types.ts";
