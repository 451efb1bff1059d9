// An instance of an LLM as the model of an agent. One of `llm()` stands for the options it was created with; any other is
// called directly, and runs its tools itself.
import { type LLMInstance, llmOptionsOf } from "@holdfast/upp";
import type { AgentOptions } from "./options.ts";
import { isRuntimeLlm } from "./runtime-llm.ts";

/** Whether a model is an instance of an LLM. */
export function isInstance(model: unknown): model is LLMInstance {
	const instance = model as Partial<LLMInstance> | null | undefined;
	return (
		typeof instance === "object" &&
		typeof instance?.generate === "function" &&
		typeof instance.stream === "function" &&
		!("specificationVersion" in instance)
	);
}

/** Whether a model carries out its tools itself, so that an agent cannot add any. */
export function hasOwnTools(model: unknown): boolean {
	return isRuntimeLlm(model) || (isInstance(model) && llmOptionsOf(model) === undefined);
}

/** Options in which an instance of `llm()` is replaced with its parts; the agent's own options take precedence. */
export function withoutInstance<Options extends AgentOptions>(options: Options): Options {
	const { model } = options as { model?: unknown };
	const made = isInstance(model) ? llmOptionsOf(model) : undefined;
	if (made === undefined) return options;
	const { system, ...rest } = made;
	const hasSystem = options.system !== undefined || options.instructions !== undefined;
	return { ...rest, ...(hasSystem || system === undefined ? {} : { system }), ...options, model: made.model };
}
