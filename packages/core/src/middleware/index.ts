// The door of the middlewares.
export { type BudgetOptions, budget } from "./budget.ts";
export type { EstimateTokens } from "./estimate-tokens.ts";
export { fallback } from "./fallback.ts";
export {
	type LogEntry,
	type LogFunction,
	type LoggingOptions,
	type LogLevel,
	type LogObject,
	logging,
} from "./logging.ts";
export type { Middleware, MiddlewareAgent, MiddlewareContext } from "./middleware.ts";
export { type PruneToolOutputsOptions, pruneToolOutputs } from "./prune-tool-outputs.ts";
export { type RetryOptions, retry } from "./retry.ts";
export { runMiddleware } from "./run-middleware.ts";
export { type SlidingWindowOptions, slidingWindow } from "./sliding-window.ts";
export type { Spending } from "./spending.ts";
export { type SummariseOptions, type Summariser, summarise, summarize } from "./summarise.ts";
export type { GivenModel } from "./wrapped-model.ts";
