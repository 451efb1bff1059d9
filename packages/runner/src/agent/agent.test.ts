// An agent from the outside: sessions, results, ends.
import { describe, expect, test } from "vitest";
import type { AgentConfig, PlanStep, ToolDefinition } from "../contract/index.ts";
import { stepsPlanner } from "../loop/index.ts";
import { Agent } from "./agent.ts";

const echo: ToolDefinition = { id: "echo", run: (input) => ({ said: input }) };

function configured(steps: readonly PlanStep[], more: Partial<AgentConfig> = {}): AgentConfig {
	return {
		id: "a",
		taskPrompt: "Do it.",
		tools: [echo],
		modelProviders: [],
		planner: stepsPlanner(steps),
		...more,
	};
}

describe("a run", () => {
	test("plans, acts, reflects and finishes with the input of its last step [RUN-020] [RUN-022] [RUN-034]", async () => {
		const seen: unknown[] = [];
		const steps: PlanStep[] = [
			{ type: "tool", toolId: "echo", input: { text: "hi" } },
			{ type: "finish", input: { answer: 42 } },
		];
		const planner = stepsPlanner(({ step, lastResult }) => {
			seen.push(lastResult?.output);
			return steps[step - 1] as PlanStep;
		});
		const result = await new Agent(configured([], { planner })).runOnce();
		expect(result).toMatchObject({
			success: true,
			result: { answer: 42 },
			steps: 2,
			actions: [
				{ type: "tool", toolId: "echo", input: { text: "hi" }, output: { said: { text: "hi" } }, ok: true },
				{ type: "finish", ok: true },
			],
		});
		expect(result.error).toBeUndefined();
		expect(result.summary).toBeUndefined();
		expect(seen).toEqual([undefined, { said: { text: "hi" } }]);
	});

	test("that uses up its steps ends with STEPS_EXHAUSTED [RUN-036]", async () => {
		const result = await new Agent(
			configured([], { planner: stepsPlanner(() => ({ type: "internal", message: "hm" })), maxSteps: 3 }),
		).runOnce();
		expect(result).toMatchObject({ success: false, steps: 3, error: { code: "STEPS_EXHAUSTED" } });
	});
});
