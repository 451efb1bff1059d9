// A model that falls back to others if it fails before producing output.
import {
	type BoundLLMModel,
	isAssistantMessage,
	type LLMCapabilities,
	type LLMRequest,
	type ModelReference,
} from "@holdfast/upp";
import {
	type Attempts,
	completeWith,
	findModel,
	type GivenModel,
	referenceTo,
	streamWith,
} from "./wrapped-model.ts";

/**
 * Creates a model that asks the first of several, and the next one if it fails before producing output. Each call starts
 * with the first again. Each model uses up its own retries before the fallback; watchers see the change of model as a
 * retry. Cancelling a call ends it without a fallback.
 *
 * If a provider asked for approval of a tool that it runs, only models of that provider are asked next. Other providers
 * never received the question.
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
		const bound = [preferred, ...further].map((found) => ({ provider: found.provider, model: found.bind() }));
		const all = bound.map(({ model: each }) => each);
		const modelsFor = (request: LLMRequest): readonly BoundLLMModel[] => {
			const provider = awaitingProvider(request);
			if (provider === undefined) return all;
			const own = bound.filter((each) => each.provider === provider).map(({ model: each }) => each);
			return own.length === 0 ? all : own;
		};
		return {
			modelId,
			capabilities: commonTo(all.map((each) => each.capabilities)),
			complete: (request) => completeWith(attempts(modelsFor(request)), request),
			stream: (request) => streamWith(attempts(modelsFor(request)), request),
		};
	});
}

function attempts([first, ...rest]: readonly BoundLLMModel[]): Attempts {
	return {
		first: first as BoundLLMModel,
		provider: "fallback",
		retries: "own",
		next: async (failed, error, request) => {
			const following = rest[failed - 1];
			if (following !== undefined) request.onRetry?.({ attempt: failed, delayMs: 0, error });
			return following;
		},
	};
}

/**
 * Returns the provider that asked before it runs a tool, if the request contains the answer. Only that provider can use
 * it.
 */
function awaitingProvider({ messages }: LLMRequest): string | undefined {
	let at = messages.length - 1;
	while (messages[at]?.type === "tool_result") at--;
	const said = at === messages.length - 1 ? undefined : messages[at];
	if (said === undefined || !isAssistantMessage(said)) return undefined;
	return said.toolCalls?.find(({ approvalProvider }) => approvalProvider !== undefined)?.approvalProvider;
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
