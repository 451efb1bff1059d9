// Adds a required output to any decider: an answer that does not match the schema is returned to the model, a limited
// number of times. The number of invalid answers and their issues are in the facts, so a crash loses none (keeps I2).
import { HoldfastError } from "@holdfast/upp";
import type { Action, Decider, EngineOutput, ModelAction, Situation } from "../engine/index.ts";
import { outputTopic, finalOutputTag as tag } from "../facts/index.ts";
import { formatIssues } from "../schema/index.ts";
import { withDecision } from "./with-decision.ts";

/** A longer schema is not repeated in the text: the model receives it with the request. */
const longestSchema = 8_000;

/**
 * Returns the decider with a required output. The schema is sent with every request whose answer may be the last. The
 * final text of a strategy is checked like an answer. If it finishes without either, the model is asked.
 */
export function requireOutput(decider: Decider, output: EngineOutput): Decider {
	const { structure, repairs } = output;
	const asking = (action: ModelAction): ModelAction =>
		action.structure === undefined && action.afterwards !== "continues" ? { ...action, structure } : action;
	return withDecision(decider, (situation) => {
		const { last } = situation;
		if (last.kind === "decision" && last.tag === outputTopic) return afterCheck(situation);
		if (last.tag === tag && last.kind === "assistant") return { kind: "finish" };
		if (last.tag === tag && last.kind === "results") return { kind: "model", tag, step: "next", structure };
		const action = decider.decide(situation);
		if (action?.kind === "model") return asking(action);
		if (action?.kind !== "finish" || action.error !== undefined || last.kind === "assistant") return action;
		if (action.text !== undefined) return action;
		return { kind: "model", tag, step: "next", structure, prompt: lastPrompt, tools: "shown" };
	});

	function afterCheck({ output: checked, answer }: Situation): Action {
		const verdict = checked?.verdict;
		if (verdict === undefined || verdict.ok) return { kind: "finish" };
		const wrong = formatIssues(verdict.issues);
		if (verdict.hopeless === true || (checked?.failures ?? 0) > repairs) {
			const text = answer?.message.text ?? "";
			return { kind: "finish", error: outputInvalid(checked?.failures ?? 1, wrong, text) };
		}
		return { kind: "model", tag, step: "next", structure, prompt: repairPrompt(wrong, output) };
	}
}

const lastPrompt = "Give your final answer now, in the required form.";

function repairPrompt(wrong: string, { structure }: EngineOutput): string {
	const schema = JSON.stringify(structure);
	const form = schema.length > longestSchema ? "the schema you were given" : `this JSON Schema: ${schema}`;
	return `Your last answer cannot be used:\n${wrong}\nAnswer again, with the whole JSON and nothing else. It must be of ${form}`;
}

function outputInvalid(answers: number, wrong: string, text: string): HoldfastError {
	const often = answers === 1 ? "The model's answer does" : `${answers} consecutive answers of the model do`;
	return new HoldfastError(
		"output_invalid",
		`${often} not match the schema in \`output\`. The last one:\n${wrong}\nRaise \`outputRepairs\`, simplify the schema, or describe its members.`,
		{ data: { answers, text } },
	);
}
