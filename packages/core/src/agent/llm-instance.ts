// An LLM instance as the model of an agent. One created by `llm()` is replaced by the options it was created with. Any
// other instance is called directly, and runs its tools itself.
import { type LLMInstance, llmOptionsOf } from "@holdfast/upp";
import type { AgentOptions } from "./options.ts";
import { isRuntimeLlm } from "./runtime-llm.ts";

/** Whether a model is an LLM instance. */
export function isInstance(model: unknown): model is LLMInstance {
	const instance = model as Partial<LLMInstance> | null | undefined;
	return (
		typeof instance === "object" &&
		typeof instance?.generate === "function" &&
		typeof instance.stream === "function" &&
		!("specificationVersion" in instance)
	);
}

/** Whether a model runs its tools itself, so that an agent cannot add any. */
export function hasOwnTools(model: unknown): boolean {
	return isRuntimeLlm(model) || (isInstance(model) && llmOptionsOf(model) === undefined);
}

/** Returns the options with an `llm()` instance replaced by its parts. The agent's own options take precedence. */
export function withoutInstance<Options extends AgentOptions>(options: Options): Options {
	const { model } = options as { model?: unknown };
	const made = isInstance(model) ? llmOptionsOf(model) : undefined;
	if (made === undefined) return options;
	const { system, ...rest } = made;
	const hasSystem = options.system !== undefined || options.instructions !== undefined;
	return { ...rest, ...(hasSystem || system === undefined ? {} : { system }), ...options, model: made.model };
}
