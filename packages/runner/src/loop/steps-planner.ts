// The deterministic planner: steps in order, or a function.
import { HoldfastError } from "@holdfast/upp";
import type { Planner, PlannerContext, PlannerState, PlanStep } from "../contract/index.ts";

/**
 * Plans the given steps in order, or what a function makes of the state. It keeps no place of its own: the run says how far
 * it is, so that many runs share one planner, and a resumed run continues where it was.
 *
 * Past the last step it throws `PLAN_EXHAUSTED`.
 * @see Agent runtime, "Planner & Execution Interfaces"
 */
export function stepsPlanner(
	steps:
		| readonly PlanStep[]
		| ((state: PlannerState, context: PlannerContext) => PlanStep | Promise<PlanStep>),
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
