import { expect, expectTypeOf, test } from "vitest";
import {
	Agent,
	type AgentSession,
	type CallOptions,
	type ExecutionContext,
	type PlanStep,
	type ToolDefinition,
} from "./compat.ts";
import {
	type ModelCallOptions,
	RunnerAgent,
	type RunnerSession,
	type RunnerStep,
	type RunnerTool,
	type RunnerToolContext,
} from "./index.ts";

test("the compatibility entry exports the runner's classes and types under their shared names", () => {
	expect(Agent).toBe(RunnerAgent);
	expectTypeOf<AgentSession>().toEqualTypeOf<RunnerSession>();
	expectTypeOf<CallOptions>().toEqualTypeOf<ModelCallOptions>();
	expectTypeOf<PlanStep>().toEqualTypeOf<RunnerStep>();
	expectTypeOf<ToolDefinition>().toEqualTypeOf<RunnerTool>();
	expectTypeOf<ExecutionContext>().toEqualTypeOf<RunnerToolContext>();
});
