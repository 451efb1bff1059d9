// Door of the strategies: deciders that come with the house, and what custom ones are made of.
export { boundHooks, hookNames } from "./bound-hooks.ts";
export type { ExecutionContext, ExecutionStrategy, StrategyAgent } from "./execution-strategy.ts";
export { foreignModel, rememberInstance } from "./instance-model.ts";
export { limitSteps } from "./limit-steps.ts";
export { loop } from "./loop.ts";
export { requireOutput } from "./require-output.ts";
export { isDecider, strategy } from "./strategy.ts";
