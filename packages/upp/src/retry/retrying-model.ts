// Adds retries and the time limit of its config to a model that does not retry by itself.

import { isUPPError, messageOf, UPPError } from "../errors/index.ts";
import {
	type BoundLLMModel,
	isRetrying,
	type LLMRequest,
	type LLMResponse,
	markRetrying,
} from "../model/index.ts";
import { EventStream, type StreamEvent } from "../stream/index.ts";
import { type CallContext, runAttempts, type Sleep } from "./attempts.ts";
import { charactersOf } from "./characters-of.ts";
import type { Deadline } from "./deadline.ts";

/**
 * Returns the model with the retries and the time limit of each request's config. A model that has its own is returned
 * unchanged.
 */
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
				run: (signal, deadline) => whole(model, withSignal(request, signal), deadline),
				started: () => false,
			}),
		stream: (request) =>
			new EventStream<LLMResponse>((stream) =>
				runAttempts(request, context, {
					run: (signal, deadline) => forward(model, withSignal(request, signal), deadline, stream),
					started: () => stream.started,
				}),
			),
	});
}

async function forward(
	model: BoundLLMModel,
	request: LLMRequest,
	deadline: Deadline,
	target: EventStream<LLMResponse>,
): Promise<LLMResponse> {
	const { signal } = deadline;
	const source = model.stream(request);
	source.response.catch(() => {});
	for await (const event of source) {
		if (signal.aborted) break; // a model that ignores its signal would continue
		const characters = charactersOf((event as StreamEvent | null)?.delta);
		deadline.heard(characters, characters > 0);
		target.push(event);
	}
	return source.response;
}

async function whole(model: BoundLLMModel, request: LLMRequest, deadline: Deadline): Promise<LLMResponse> {
	const response = await model.complete(request);
	const { content, toolCalls } = response?.message ?? {};
	deadline.heard(charactersOf([content, toolCalls]), true);
	return response;
}

// Copies the request without computing its lazy messages.
function withSignal(request: LLMRequest, signal: AbortSignal): LLMRequest {
	const copy = Object.defineProperties({}, Object.getOwnPropertyDescriptors(request)) as LLMRequest;
	copy.signal = signal;
	return copy;
}

/** An error with an unknown cause and a message. */
export function toUnknownError(thrown: unknown, provider: string): UPPError {
	if (isUPPError(thrown)) return thrown;
	const message = messageOf(thrown);
	return new UPPError(message, "PROVIDER_ERROR", provider, "llm", undefined, thrown);
}
