// react(): reason, act, observe. Each step asks the model twice: for a thought without tools, then for an action.
import { checkOptions, optionNames } from "@holdfast/upp";
import type { DecidingStrategy } from "./execution-strategy.ts";
import { readLimit } from "./read-limit.ts";
import { strategy } from "./strategy.ts";

/** Options of `react()`. */
export interface ReactOptions {
	/**
	 * The maximum number of steps, from 1. Default: no limit. With a limit, the run ends after that step, with its state
	 * so far.
	 */
	readonly maxSteps?: number;
	/** The prompt of the reasoning phase. It is not recorded. Default: a general one, in English. */
	readonly reasoningPrompt?: string;
}

const defaultReasoningPrompt =
	"Think about what to do next. State what you know, what is missing and which action would help most. Do not act yet.";
const actionPrompt = "Based on your reasoning, take action: call a tool, or give the final answer.";

const reactNames = optionNames<ReactOptions>({ maxSteps: true, reasoningPrompt: "text" });

/**
 * ReAct: explicit reasoning before every action. The thoughts are in the history and in `state.reasoning`.
 *
 * @throws HoldfastError `invalid_option` for a limit that is not an integer of at least 1.
 */
export function react(options: ReactOptions = {}): DecidingStrategy {
	checkOptions(options, reactNames, {
		of: "react()",
		instead: { maxIterations: "`maxSteps` limits the steps." },
	});
	const limit = readLimit(options.maxSteps, "maxSteps");
	const prompt = options.reasoningPrompt ?? defaultReasoningPrompt;
	return strategy({
		name: "react",
		...(options.maxSteps === undefined ? {} : { limitsSteps: true }),
		decide({ last, step, answer }) {
			if (last.kind === "assistant" && last.tag === "reason") {
				return { kind: "note", topic: "reasoning", value: answer?.message.text ?? "" };
			}
			if (last.kind === "note" && last.tag === "reasoning") {
				return { kind: "model", tag: "act", step: "same", prompt: actionPrompt, answered: "finishes" };
			}
			if (last.kind === "assistant") return { kind: "finish" };
			if (last.kind === "results" && step >= limit) return { kind: "finish" };
			return {
				kind: "model",
				tag: "reason",
				step: "next",
				prompt,
				tools: "shown",
				structure: "none",
				afterwards: "continues",
			};
		},
	});
}
