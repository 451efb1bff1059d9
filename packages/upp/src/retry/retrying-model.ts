// Gives a model that does not retry by itself the retries and the time limit that its config asks for.

import { isUPPError, messageOf, UPPError } from "../errors/index.ts";
import {
	type BoundLLMModel,
	isRetrying,
	type LLMRequest,
	type LLMResponse,
	markRetrying,
} from "../model/index.ts";
import { EventStream } from "../stream/index.ts";
import { type CallContext, runAttempts, type Sleep } from "./attempts.ts";

/** The model with the retries and the time limit of each request's config; one that has its own is returned as it is. */
export function retryingModel(model: BoundLLMModel, provider: string, sleep?: Sleep): BoundLLMModel {
	if (isRetrying(model)) return model;
	const context: CallContext = {
		provider,
		defaultStrategy: undefined,
		toError: (thrown) => toUnknownError(thrown, provider),
		...(sleep === undefined ? {} : { sleep }),
	};
	return markRetrying({
		modelId: model.modelId,
		capabilities: model.capabilities,
		complete: (request) =>
			runAttempts(request, context, {
				run: (signal) => model.complete(withSignal(request, signal)),
				started: () => false,
			}),
		stream: (request) =>
			new EventStream<LLMResponse>((stream) =>
				runAttempts(request, context, {
					run: (signal) => forward(model, withSignal(request, signal), stream),
					started: () => stream.started,
				}),
			),
	});
}

async function forward(
	model: BoundLLMModel,
	request: LLMRequest,
	target: EventStream<LLMResponse>,
): Promise<LLMResponse> {
	const source = model.stream(request);
	source.response.catch(() => {});
	for await (const event of source) target.push(event);
	return source.response;
}

// Copies the request without computing its lazy messages.
function withSignal(request: LLMRequest, signal: AbortSignal): LLMRequest {
	const copy = Object.defineProperties({}, Object.getOwnPropertyDescriptors(request)) as LLMRequest;
	copy.signal = signal;
	return copy;
}

/** An error of which nothing is known but what it says. */
export function toUnknownError(thrown: unknown, provider: string): UPPError {
	if (isUPPError(thrown)) return thrown;
	const message = messageOf(thrown);
	return new UPPError(message, "PROVIDER_ERROR", provider, "llm", undefined, thrown);
}
