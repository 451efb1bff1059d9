// Door of the state: immutable snapshots with shared structure.
export {
	AgentState,
	type AgentStateJSON,
	type AgentStateParts,
	type PlanStep,
	stateVersion,
} from "./agent-state.ts";
export { List } from "./list.ts";
