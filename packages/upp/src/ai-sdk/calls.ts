// One call of an AI SDK model, whole or streamed.

import { isHoldfastError, UPPError } from "../errors/index.ts";
import type { LLMRequest, LLMResponse } from "../model/index.ts";
import { Answer, type Emit } from "./answer.ts";
import { toCallOptions } from "./call-options.ts";
import { toUPPError } from "./errors.ts";
import type { LanguageModelSource } from "./language-model.ts";
import type { StreamPart } from "./language-model-types.ts";
import { isUnsaid } from "./outcome.ts";

/** Asks for a whole answer. Whatever goes wrong is a UPPError. */
export async function generate(
	source: LanguageModelSource,
	request: LLMRequest,
	signal: AbortSignal,
): Promise<LLMResponse> {
	const result = await call(source, request, signal, "doGenerate");
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

/** Asks for a streamed answer and tells its events. Whatever goes wrong is a UPPError. */
export async function follow(
	source: LanguageModelSource,
	request: LLMRequest,
	signal: AbortSignal,
	emit: Emit,
): Promise<LLMResponse> {
	const { stream } = await call(source, request, signal, "doStream");
	const tell = opening(emit);
	const answer = new Answer(tell, request.structure === undefined ? "text" : "structured");
	const reader = stream.getReader();
	const cancel = (): void => void reader.cancel(signal.reason).catch(() => {});
	if (signal.aborted) cancel();
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
		throw toError(thrown, source.provider);
	} finally {
		signal.removeEventListener("abort", cancel);
	}
}

async function call(
	source: LanguageModelSource,
	request: LLMRequest,
	signal: AbortSignal,
	method: "doGenerate" | "doStream",
): Promise<any> {
	try {
		const model = await source.load(request.config ?? {});
		return await model[method](toCallOptions(request, model, signal));
	} catch (thrown) {
		throw toError(thrown, source.provider);
	}
}

// Errors of our own say already what to do.
function toError(thrown: unknown, provider: string): unknown {
	return isHoldfastError(thrown) ? thrown : toUPPError(thrown, provider);
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
