// Entry point `holdfast/middleware`: policy around and inside the runs of an agent, and models composed of other models.

export type {
	Admission,
	AuditNote,
	Delta,
	DeltaSource,
	DeltaStage,
	InterceptedCall,
	InterceptedModelCall,
	InterceptedResult,
	Interceptor,
	ModelAnswer,
	ReplacedResult,
	Stages,
	ToolCallDecision,
} from "./policy/interceptor.ts";
export { type BudgetOptions, budget } from "./policy/middleware/budget.ts";
export type { EstimateTokens } from "./policy/middleware/estimate-tokens.ts";
export { fallback } from "./policy/middleware/fallback.ts";
export {
	type LogEntry,
	type LogFunction,
	type LoggingOptions,
	type LogLevel,
	type LogObject,
	logging,
} from "./policy/middleware/logging.ts";
export type {
	Middleware,
	MiddlewareAgent,
	MiddlewareContext,
	MiddlewareEntry,
} from "./policy/middleware/middleware-face.ts";
export { type PruneToolOutputsOptions, pruneToolOutputs } from "./policy/middleware/prune-tool-outputs.ts";
export { type RetryOptions, retry } from "./policy/middleware/retry.ts";
export { type SlidingWindowOptions, slidingWindow } from "./policy/middleware/sliding-window.ts";
export type { Spending } from "./policy/middleware/spending.ts";
export {
	type SummariseOptions,
	type Summariser,
	summarise,
	summarize,
} from "./policy/middleware/summarise.ts";
export type { GivenModel } from "./policy/middleware/wrapped-model.ts";
export { pinned } from "./policy/pinned.ts";
export type { ChangedContext, PolicyRun } from "./policy/policy-run.ts";
export type { RunMetadata } from "./policy/run-metadata.ts";
