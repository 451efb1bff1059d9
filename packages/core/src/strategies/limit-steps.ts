// Limits the number of steps of any decider.
import { HoldfastError } from "@holdfast/upp";
import type { Decider } from "../engine/index.ts";
import { withDecision } from "./with-decision.ts";

/** Returns the decider with a limit: its runs fail instead of starting another step. */
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
		`The run used all of its ${maxSteps} steps (maxSteps) without finishing. Raise the limit, or make the task smaller.`,
	);
}
