// Entry point `holdfast/execution`: strategies, and the building blocks of custom ones.
export type {
	Action,
	AskAction,
	Decider,
	FinishAction,
	ModelAction,
	NoteAction,
	QuestionContext,
	RequestedCall,
	Situation,
	ToolsAction,
	WaitAction,
} from "./engine/action.ts";
export { compileSchema } from "./schema/compile-schema.ts";
export { formatIssues, type Issue } from "./schema/issue.ts";
export { List } from "./state/list.ts";
export type { ExecutionPlan, PlanStep, PlanStepStatus } from "./state/plan-step.ts";
export {
	type ConcurrentAction,
	type ConcurrentDecider,
	concurrentStrategy,
} from "./strategies/concurrent-strategy.ts";
export type {
	AgentRef,
	DecidingStrategy,
	ExecutionContext,
	ExecutionResult,
	ExecutionStrategy,
	StrategyAgent,
} from "./strategies/execution-strategy.ts";
export { type LoopOptions, loop } from "./strategies/loop.ts";
export { type PlanOptions, plan } from "./strategies/plan.ts";
export { type ReactOptions, react } from "./strategies/react.ts";
export { strategy } from "./strategies/strategy.ts";
