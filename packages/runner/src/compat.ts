// Entry point `@holdfast/runner/compat`: names that the runner shares with other Holdfast packages, where they have a
// different meaning. New programs import the current names from `@holdfast/runner`.
export { RunnerAgent as Agent } from "./agent/index.ts";
export type { RunnerSession as AgentSession } from "./contract/agent-contract.ts";
export type { RunTokenUsage as TokenUsage } from "./contract/agent-result.ts";
export type { ModelCallOptions as CallOptions } from "./contract/llm-client.ts";
export type { RunnerStep as PlanStep } from "./contract/plan-step.ts";
export type {
	RunnerTool as ToolDefinition,
	RunnerToolContext as ExecutionContext,
	ToolRetryOptions as RetryOptions,
} from "./contract/tool-definition.ts";
