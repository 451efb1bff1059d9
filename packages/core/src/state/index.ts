// Door of the state: immutable snapshots with shared structure, and trees of them.
export { AgentState, type AgentStateParts } from "./agent-state.ts";
export type { AgentStateJSON } from "./agent-state-json.ts";
export { List } from "./list.ts";
export { type PlanStep, type PlanStepChange, withStepStatus } from "./plan-step.ts";
export type {
	SubagentExecutionTrace,
	SubagentExecutionTraceJSON,
	ToolExecutionTrace,
} from "./subagent-trace.ts";
export { ThreadNode, type ThreadNodeJSON } from "./thread-node.ts";
export { ThreadTree, type ThreadTreeJSON } from "./thread-tree.ts";
