// Entry point of the strategies: the built-in deciders, and the parts of custom ones.
export { boundHooks, hookNames } from "./bound-hooks.ts";
export type {
	DecidingStrategy,
	ExecutionContext,
	ExecutionStrategy,
	StrategyAgent,
} from "./execution-strategy.ts";
export { foreignModel, rememberInstance } from "./instance-model.ts";
export { limitSteps } from "./limit-steps.ts";
export { loop } from "./loop.ts";
export { requireOutput } from "./require-output.ts";
export { isDecider, strategy } from "./strategy.ts";
