// holdfast/execution: strategies, and what custom ones are made of.
export type {
	Action,
	AskAction,
	Decider,
	FinishAction,
	ModelAction,
	NoteAction,
	Situation,
} from "./engine/index.ts";
export {
	type DecidingStrategy,
	type ExecutionContext,
	type ExecutionResult,
	type ExecutionStrategy,
	type LoopOptions,
	loop,
	type PlanOptions,
	plan,
	type ReactOptions,
	react,
	type StrategyAgent,
	strategy,
} from "./strategies/index.ts";
export {
	executeOrderedToolCalls,
	hasCallDependencies,
	hasToolDependencies,
	injectToolContext,
	isContextAwareTool,
	orderToolCalls,
	withToolContext,
} from "./tools/index.ts";
