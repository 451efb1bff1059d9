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
	type LoopOptions,
	loop,
	type PlanOptions,
	plan,
	type ReactOptions,
	react,
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
