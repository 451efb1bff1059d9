// Checks a run's answer against the agent's `output` before the run completes. The finding is recorded before it is used
// (keeps I3), and the strategy decides how to handle an invalid answer.
import { HoldfastError } from "@holdfast/upp";
import { outputTopic } from "../facts/index.ts";
import { commit, stepOf } from "./end-run.ts";
import type { Run } from "./run.ts";
import { untilAnswered } from "./until-answered.ts";

/**
 * Whether the run must not complete yet, because its agent requires an output and the last answer is not known to be
 * valid.
 */
export function owesOutput({ agent, state }: Run): boolean {
	return agent.output !== undefined && state.run?.output?.verdict?.ok !== true;
}

/**
 * Checks the last answer and records the finding.
 * @throws HoldfastError `output_missing` if the run would end without an answer.
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
		"The run ended before the model gave its answer, so there is no output. Allow more steps: check `stopCondition` and middlewares that stop the run.",
	);
}
