// The AI SDK adapter's door: a model of the AI SDK as a BoundLLMModel, with retries, time limit and cancelling.

import { UPPError } from "../errors/upp-error.ts";
import type { BoundLLMModel, LLMCapabilities, LLMRequest, LLMResponse } from "../llm/llm-types.ts";
import type { ProviderConfig } from "../provider/provider-types.ts";
import { type CallContext, runAttempts, type Sleep } from "../retry/attempts.ts";
import { exponentialBackoff } from "../retry/backoff.ts";
import { markRetrying } from "../retry/retrying-model.ts";
import { EventStream } from "../stream/event-stream.ts";
import { Answer, type Emit } from "./answer.ts";
import { toCallOptions } from "./call-options.ts";
import { toUPPError } from "./errors.ts";
import type { LanguageModel, StreamPart } from "./language-model-types.ts";
import { isUnsaid } from "./outcome.ts";

// The AI SDK does not say what a model can do; a model that cannot do what it is asked answers with an error.
const capabilities: LLMCapabilities = {
	streaming: true,
	tools: true,
	structuredOutput: true,
	imageInput: true,
	videoInput: true,
	audioInput: true,
	documentInput: true,
};

/** Where the model to call comes from. */
export interface LanguageModelSource {
	provider: string;
	modelId: string;
	/** Gives the model for one call. */
	load(config: ProviderConfig): LanguageModel | Promise<LanguageModel>;
	/** How waits between retries are done. Default: timers. */
	sleep?: Sleep;
}

/** Makes a model of the AI SDK ready to be called as a UPP model. */
export function bindLanguageModel(model: LanguageModel, sleep?: Sleep): BoundLLMModel {
	return bindLanguageModelSource({
		provider: model.provider,
		modelId: model.modelId,
		load(config) {
			refuseConnection(config, model);
			return model;
		},
		...(sleep === undefined ? {} : { sleep }),
	});
}

/** Makes a model that is found when it is first called ready to be called. */
export function bindLanguageModelSource(source: LanguageModelSource): BoundLLMModel {
	const context: CallContext = {
		provider: source.provider,
		defaultStrategy: exponentialBackoff(),
		toError: (thrown) => toUPPError(thrown, source.provider),
		...(source.sleep === undefined ? {} : { sleep: source.sleep }),
	};
	return markRetrying({
		modelId: source.modelId,
		capabilities,
		complete: (request) =>
			runAttempts(request, context, {
				run: (signal) => generate(source, request, signal),
				started: () => false,
			}),
		stream: (request) =>
			new EventStream<LLMResponse>((stream) =>
				runAttempts(request, context, {
					run: (signal) => follow(source, request, signal, (event) => stream.push(event)),
					started: () => stream.started,
				}),
			),
	});
}

async function generate(
	source: LanguageModelSource,
	request: LLMRequest,
	signal: AbortSignal,
): Promise<LLMResponse> {
	const model = await source.load(request.config ?? {});
	const result = await model.doGenerate(toCallOptions(request, model, signal));
	const answer = new Answer(() => {}, "text");
	let id = 0;
	for (const part of result.content as (StreamPart & { text?: string })[]) {
		if (part.type !== "text" && part.type !== "reasoning") {
			answer.take(part);
			continue;
		}
		const { type, providerMetadata } = part;
		const metadata = providerMetadata === undefined ? {} : { providerMetadata };
		answer.take({ type: `${type}-delta`, id: String(id), delta: part.text ?? "", ...metadata });
		answer.take({ type: `${type}-end`, id: String(id++) });
	}
	answer.take({ type: "response-metadata", ...result.response });
	answer.take({ ...result, type: "finish" });
	return withData(answer.finish(), request, source.provider, result.structuredOutputText);
}

async function follow(
	source: LanguageModelSource,
	request: LLMRequest,
	signal: AbortSignal,
	emit: Emit,
): Promise<LLMResponse> {
	const model = await source.load(request.config ?? {});
	const { stream } = await model.doStream(toCallOptions(request, model, signal));
	const tell = opening(emit);
	const answer = new Answer(tell, request.structure === undefined ? "text" : "structured");
	const reader = stream.getReader();
	const cancel = (): void => void reader.cancel(signal.reason).catch(() => {});
	signal.addEventListener("abort", cancel, { once: true });
	try {
		for (;;) {
			const { done, value } = await reader.read();
			if (done) break;
			const part = value as StreamPart;
			if (part.type === "error") throw part.error;
			answer.take(part);
		}
		signal.throwIfAborted();
		if (isUnsaid(answer.finishReason)) throw cutOff(source.provider);
		const response = withData(answer.finish(), request, source.provider);
		tell({ type: "message_stop", index: 0, delta: {} });
		return response;
	} catch (thrown) {
		cancel();
		throw thrown;
	} finally {
		signal.removeEventListener("abort", cancel);
	}
}

// The start of the message is told with its first content: before that, a failed call can still be tried again.
function opening(emit: Emit): Emit {
	let opened = false;
	return (event) => {
		if (!opened) {
			opened = true;
			emit({ type: "message_start", index: 0, delta: {} });
		}
		emit(event);
	};
}

function withData(
	response: LLMResponse,
	request: LLMRequest,
	provider: string,
	text: string = response.message.text,
): LLMResponse {
	const { stopReason } = response;
	if (request.structure === undefined || stopReason === "tool_calls" || stopReason === "content_filter") {
		return response;
	}
	try {
		return { ...response, data: JSON.parse(text) };
	} catch (cause) {
		const why = stopReason === "length" ? "it was cut off at the token limit" : "it is not JSON";
		const message = `The model's answer does not follow the structure asked for: ${why}.`;
		throw new UPPError(message, "INVALID_RESPONSE", provider, "llm", undefined, cause);
	}
}

function cutOff(provider: string): UPPError {
	const message = "The model's answer was cut off: the stream ended before the model said why it stopped.";
	return new UPPError(message, "NETWORK_ERROR", provider, "llm");
}

function refuseConnection(config: ProviderConfig, model: LanguageModel): void {
	const name = (["apiKey", "baseUrl", "fetch"] as const).find((key) => config[key] !== undefined);
	if (name === undefined) return;
	throw new UPPError(
		`\`config.${name}\` cannot change a model that was made by an AI SDK provider. Give it to the provider that made "${model.modelId}".`,
		"INVALID_REQUEST",
		model.provider,
		"llm",
	);
}
