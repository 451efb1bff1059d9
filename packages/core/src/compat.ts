// Entry point `holdfast/compat`: names that programs written for other agent packages import. New programs do not need
// them: `createLlm` is `agent({ model })`, `createSimpleTool` is `tool()`, `drain(run)` is `run.result()`,
// `withToolContext` and `injectToolContext` are the second argument of a tool's `run`, and an agent orders the calls of
// its tools by itself.
export { createLlm, type RuntimeCreateLlmOptions } from "./agent/create-llm.ts";
export type { SubAgentToolRun } from "./agent/create-sub-agent-tool.ts";
export type { RuntimeLlm, RuntimeLlmContext, RuntimeLlmOutput } from "./agent/runtime-llm.ts";
export { type Drained, drain } from "./sessions/drain.ts";
export type { AgentStateInterface } from "./state/agent-state.ts";
export type {
	SubagentExecutionTrace,
	SubagentExecutionTraceJSON,
	ToolExecutionTrace,
} from "./state/subagent-trace.ts";
export {
	executeOrderedToolCalls,
	type ToolExecutionResult,
	type ToolExecutor,
} from "./tools/execute-ordered.ts";
export {
	type ExecutionGroup,
	hasCallDependencies,
	hasToolDependencies,
	type OrderedToolCall,
	orderToolCalls,
	type ToolDependencyOptions,
	type ToolWithDependencies,
} from "./tools/execution-groups.ts";
export { isLocalTool } from "./tools/normalise-tool.ts";
export {
	type AgentTool,
	createSimpleTool,
	type SimpleTool,
	type ToolExecutionEventStream,
	type ToolOutput,
} from "./tools/tool.ts";
export {
	type ContextAwareToolRun,
	type InjectToolContextOptions,
	injectToolContext,
	isContextAwareTool,
	type ToolExecutionContext,
	withToolContext,
} from "./tools/tool-context.ts";
