// A planner that calls a model: one system message contains the task and the allowed tools, and the conversation follows.
// Tool outputs appear only in messages of the role `tool`, so their text never becomes an instruction.
import { checkOptions, isHoldfastError, optionNames } from "@holdfast/upp";
import type { ChatMessage, ModelRequest, Planner, PlannerContext, PlannerState } from "../contract/index.ts";
import { parseStep } from "./parse-step.ts";
import { readStep } from "./read-step.ts";
import { checkManner, type PlannerManner, systemText } from "./system-text.ts";

const modelPlannerNames = optionNames<ModelPlannerOptions>({
	maxPlanRepairs: "number",
	request: "object",
	manner: true,
	promptTemplate: "text",
});

/** Options of `modelPlanner()`. */
export interface ModelPlannerOptions {
	/** How often an unreadable reply is returned to the model with an explanation. Default: 1. */
	readonly maxPlanRepairs?: number;
	/** Fields of every request to a provider: model, maxTokens, costCeiling. Default: none. */
	readonly request?: Omit<ModelRequest, "messages" | "purpose" | "promptRef">;
	/**
	 * How it approaches a task: `plain`; `careful`, which looks before it changes anything and checks before it finishes;
	 * `brief`, for few steps and short prompts; or a function that returns the text. The task, the tools and the answer
	 * format follow the text. Default: `plain`.
	 */
	readonly manner?: PlannerManner;
	/**
	 * A template of the agent's prompt store that replaces the whole system message; receives `task` and `tools`.
	 * Default: none.
	 */
	readonly promptTemplate?: string;
}

/**
 * Returns a planner that asks a model for the next step as JSON.
 *
 * @throws HoldfastError `CONFIG_INVALID` for an unknown `manner`.
 */
export function modelPlanner(options: ModelPlannerOptions = {}): Planner {
	checkOptions(options, modelPlannerNames, { of: "modelPlanner()" });
	const { maxPlanRepairs = 1, request = {}, promptTemplate } = options;
	const manner = checkManner(options.manner ?? "plain");
	return {
		async plan(state, context) {
			const { system, ...from } =
				promptTemplate === undefined
					? { system: await systemText(state, manner) }
					: await renderedSystem(promptTemplate, state, context);
			const messages: ChatMessage[] = [
				{ role: "system", content: system },
				{ role: "user", content: state.task },
				...state.transcript,
				...(state.scratchpad.length === 0
					? []
					: [{ role: "assistant", content: `Notes so far:\n${state.scratchpad.join("\n")}` } as const]),
				...(state.memory.length === 0
					? []
					: [{ role: "tool", toolId: "memory", content: JSON.stringify(state.memory) } as const]),
			];
			for (let repairs = 0; ; repairs++) {
				const reply = await context.callModel({ ...request, ...from, messages, purpose: "plan" });
				try {
					return readStep(parseStep(reply.text), true);
				} catch (error) {
					if (repairs >= maxPlanRepairs || !isHoldfastError(error)) throw error;
					messages.push(
						{ role: "assistant", content: reply.text },
						{ role: "user", content: repair(error.message) },
					);
				}
			}
		},
	};
}

async function renderedSystem(
	id: string,
	{ task, tools }: PlannerState,
	{ renderPrompt }: PlannerContext,
): Promise<{ readonly system: string } & Pick<ModelRequest, "promptRef">> {
	const { text, version } = await renderPrompt(id, { task, tools });
	return { system: text, promptRef: { id, version } };
}

function repair(problem: string): string {
	return `${problem} Answer again with one JSON object of the form described.`;
}
