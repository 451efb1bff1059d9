// Door of the strategies: deciders that come with the house, and what custom ones are made of.

export { boundHooks, hookNames } from "./bound-hooks.ts";
export type {
	DecidingStrategy,
	ExecutionContext,
	ExecutionResult,
	ExecutionStrategy,
	StrategyAgent,
} from "./execution-strategy.ts";
export { type InstanceBacking, rememberInstance } from "./instance-model.ts";
export { limitSteps } from "./limit-steps.ts";
export { type LoopOptions, loop } from "./loop.ts";
export { type PlanOptions, plan } from "./plan.ts";
export { type ReactOptions, react } from "./react.ts";
export { isDecider, strategy } from "./strategy.ts";
