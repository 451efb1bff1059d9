// Before a run completes, its answer is held against the agent's `output`; what came of it is on record before it is used
// (keeps I3), and the strategy decides what to do about a wrong one.
import { HoldfastError } from "@holdfast/upp";
import { outputTopic } from "../facts/index.ts";
import { commit, stepOf } from "./end-run.ts";
import type { Run } from "./run.ts";
import { untilAnswered } from "./until-answered.ts";

/** Whether the run must not complete yet: its agent owes an output, and the last answer was not found to be one. */
export function owesOutput({ agent, state }: Run): boolean {
	return agent.output !== undefined && state.run?.output?.verdict?.ok !== true;
}

/**
 * Checks the last answer and records what was found.
 * @throws HoldfastError `output_missing` where the run would end without an answer.
 */
export async function checkOutput(run: Run): Promise<void> {
	const { output } = run.agent;
	const assistant = run.state.run?.assistant;
	if (output === undefined) return;
	if (assistant === undefined || assistant.message.hasToolCalls) throw missing();
	const answer = await untilAnswered(run, () => output.check(assistant));
	await commit(run, [{ kind: "decision", step: stepOf(run), topic: outputTopic, answer }]);
}

function missing(): HoldfastError {
	return new HoldfastError(
		"output_missing",
		"The run was to end before the model gave its answer, so there is no output. Let it take more steps: look at `stopCondition` and at middlewares that stop it.",
	);
}
