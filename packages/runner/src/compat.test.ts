import { expect, expectTypeOf, test } from "vitest";
import {
	RunnerAgent,
	type RunnerSession,
	type ModelCallOptions,
	type RunnerToolContext,
	type RunnerStep,
	type RunnerTool,
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
	expect(RunnerAgent).toBe(RunnerAgent);
	expectTypeOf<RunnerSession>().toEqualTypeOf<RunnerSession>();
	expectTypeOf<ModelCallOptions>().toEqualTypeOf<ModelCallOptions>();
	expectTypeOf<RunnerStep>().toEqualTypeOf<RunnerStep>();
	expectTypeOf<RunnerTool>().toEqualTypeOf<RunnerTool>();
	expectTypeOf<RunnerToolContext>().toEqualTypeOf<RunnerToolContext>();
});
