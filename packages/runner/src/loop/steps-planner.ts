// The deterministic planner: steps in order, or a function.
import { HoldfastError } from "@holdfast/upp";
import type { Planner, PlannerContext, PlannerState, RunnerStep } from "../contract/index.ts";

/**
 * Plans the given steps in order, or calls a function with the state. The position comes from the run, so many runs can
 * share one planner, and a resumed run continues at its step.
 *
 * After the last step it throws `PLAN_EXHAUSTED`.
 */
export function stepsPlanner(
	steps:
		| readonly RunnerStep[]
		| ((state: PlannerState, context: PlannerContext) => RunnerStep | Promise<RunnerStep>),
): Planner {
	if (typeof steps === "function") return { plan: steps };
	return {
		plan({ step }) {
			const next = steps[step - 1];
			if (next !== undefined) return next;
			throw new HoldfastError(
				"PLAN_EXHAUSTED",
				`The plan has ${steps.length} steps and none of them finishes the run.`,
			);
		},
	};
}
