// A limit of steps around any decider.
import { HoldfastError } from "@holdfast/upp";
import type { Decider } from "../engine/index.ts";
import { withDecision } from "./with-decision.ts";

/** The same decider, whose runs fail when they would start one step more. */
export function limitSteps(decider: Decider, maxSteps: number): Decider {
	const limited = withDecision(decider, (situation) => {
		const action = decider.decide(situation);
		const begins = (action?.kind === "model" || action?.kind === "tools") && action.step === "next";
		if (!begins || situation.step < maxSteps) return action;
		return { kind: "finish", error: maxStepsExceeded(maxSteps) };
	});
	return { ...limited, maxSteps };
}

function maxStepsExceeded(maxSteps: number): HoldfastError {
	return new HoldfastError(
		"max_steps_exceeded",
		`The run has taken its ${maxSteps} steps (maxSteps) and is not done. Raise the limit, or end the task earlier.`,
	);
}
