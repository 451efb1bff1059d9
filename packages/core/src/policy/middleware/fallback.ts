// A model that falls back to others if it fails before producing output.
import type { LLMCapabilities, LLMRequest, ModelReference, UPPError } from "@holdfast/upp";
import { completeWith, findModel, type GivenModel, referenceTo, streamWith } from "./wrapped-model.ts";

/**
 * Creates a model that asks the first of several, and the next one if it fails before producing output. Each call starts
 * with the first again. Each model uses up its own retries before the fallback; watchers see the change of model as a
 * retry. Cancelling a call ends it without a fallback.
 *
 * Its capabilities are those that all models share. Its id is their ids joined by "|". The cost of a call depends on
 * which model answered, so no single model's price is applied.
 *
 * @throws HoldfastError `invalid_model`, `provider_not_called`, `no_language_model`.
 * @example
 * import { anthropic } from "@ai-sdk/anthropic";
 * import { openai } from "@ai-sdk/openai";
 * const clerk = agent({ model: fallback(openai("gpt-5.2"), anthropic("claude-sonnet-4-5")) });
 */
export function fallback(model: GivenModel, ...others: readonly GivenModel[]): ModelReference {
	const preferred = findModel(model);
	const further = others.map(findModel);
	const modelId = [preferred, ...further].map((found) => found.modelId).join("|");
	return referenceTo("fallback", modelId, () => {
		const first = preferred.bind();
		const rest = further.map((found) => found.bind());
		const asked = {
			first,
			provider: "fallback",
			retries: "own" as const,
			next: async (failed: number, error: UPPError, request: LLMRequest) => {
				const following = rest[failed - 1];
				if (following !== undefined) request.onRetry?.({ attempt: failed, delayMs: 0, error });
				return following;
			},
		};
		return {
			modelId,
			capabilities: commonTo([first, ...rest].map((each) => each.capabilities)),
			complete: (request) => completeWith(asked, request),
			stream: (request) => streamWith(asked, request),
		};
	});
}

/** Returns the capabilities that all models share. */
function commonTo(all: readonly LLMCapabilities[]): LLMCapabilities {
	const can = (what: keyof LLMCapabilities): boolean => all.every((each) => each[what] === true);
	return {
		streaming: can("streaming"),
		tools: can("tools"),
		structuredOutput: can("structuredOutput"),
		imageInput: can("imageInput"),
		videoInput: can("videoInput"),
		audioInput: can("audioInput"),
		documentInput: can("documentInput"),
	};
}
