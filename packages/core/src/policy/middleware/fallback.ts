// A model that hands over to others when it fails before it has said anything.
import type { LLMCapabilities, LLMRequest, ModelReference, UPPError } from "@holdfast/upp";
import { completeWith, findModel, type GivenModel, referenceTo, streamWith } from "./wrapped-model.ts";

/**
 * Makes a model that asks the first of several, and the next one when it fails before it has said anything. Each call
 * begins with the first again. The models' own retries come before the change of model; watchers see a change
 * as of a retry. A call that is cancelled ends.
 *
 * It can do what all of the models can. Its id is theirs joined by "|": what a call cost depends on who answered, so the
 * price of one of them is not taken for it.
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

/** The capabilities that all models share. */
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
