// Entry point of the state: immutable snapshots with shared structure, and trees of them.

export { AgentState } from "./agent-state.ts";
export type { AgentStateJSON } from "./agent-state-json.ts";
export { type AgentStateParts, callIdsOf, withCalls, withLoaded } from "./agent-state-parts.ts";
export type { GenerateResult, ResultWith } from "./generate-result.ts";
export { IdSet } from "./id-set.ts";
export { List } from "./list.ts";
export { type PlanStep, type PlanStepChange, withStepStatus } from "./plan-step.ts";
export type { SubagentExecutionTrace, ToolExecutionTrace } from "./subagent-trace.ts";
