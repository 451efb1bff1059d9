import { expect, expectTypeOf, test } from "vitest";
import {
	Agent,
	type AgentSession,
	type CallOptions,
	type ExecutionContext,
	type PlanStep,
	type RetryOptions,
	type TokenUsage,
	type ToolDefinition,
} from "./compat.ts";
import {
	type ModelCallOptions,
	RunnerAgent,
	type RunnerSession,
	type RunnerStep,
	type RunnerTool,
	type RunnerToolContext,
	type RunTokenUsage,
	type ToolRetryOptions,
} from "./index.ts";

test("the compatibility entry exports the runner's classes and types under their shared names", () => {
	expect(Agent).toBe(RunnerAgent);
	expectTypeOf<AgentSession>().toEqualTypeOf<RunnerSession>();
	expectTypeOf<CallOptions>().toEqualTypeOf<ModelCallOptions>();
	expectTypeOf<PlanStep>().toEqualTypeOf<RunnerStep>();
	expectTypeOf<RetryOptions>().toEqualTypeOf<ToolRetryOptions>();
	expectTypeOf<TokenUsage>().toEqualTypeOf<RunTokenUsage>();
	expectTypeOf<ToolDefinition>().toEqualTypeOf<RunnerTool>();
	expectTypeOf<ExecutionContext>().toEqualTypeOf<RunnerToolContext>();
});
