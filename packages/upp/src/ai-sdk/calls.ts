// One call of an AI SDK model, whole or streamed.

import { isHoldfastError, messageOf, UPPError } from "../errors/index.ts";
import { checkResponse, type LLMRequest, type LLMResponse } from "../model/index.ts";
import { charactersOf, type Deadline } from "../retry/index.ts";
import { Answer, type Emit } from "./answer.ts";
import { toCallOptions } from "./call-options.ts";
import { dialectOf } from "./dialect.ts";
import { toUPPError } from "./errors.ts";
import type { LanguageModelSource } from "./language-model.ts";
import type { StreamPart } from "./language-model-types.ts";
import { isCutOff } from "./outcome.ts";
import { wireTools } from "./wire-tools.ts";

/** Requests a complete answer. Every failure is an error with a code. */
export async function generate(
	source: LanguageModelSource,
	request: LLMRequest,
	deadline: Deadline,
): Promise<LLMResponse> {
	const { provider } = source;
	const { signal } = deadline;
	try {
		const model = await source.load(request.config ?? {});
		const { renamed } = wireTools(request.tools, dialectOf(model));
		const answer = new Answer(ignore, "text", renamed, model.provider);
		for (let given = request, pauses = 0; ; pauses++) {
			const result = await model.doGenerate(toCallOptions(given, model, signal));
			const parts: unknown = result?.content;
			if (!Array.isArray(parts)) throw malformed(provider, "its content is not a list");
			deadline.heard(charactersOf(parts), true);
			for (const [index, part] of parts.entries()) takeWhole(answer, part, String(index), provider);
			take(answer, { type: "response-metadata", ...result.response }, provider);
			take(answer, { ...result, type: "finish" }, provider);
			if (answer.isPaused && pauses < mostPauses) given = continued(request, answer);
			else
				return checkResponse(
					withData(answer.finish(), request, provider, result.structuredOutputText),
					provider,
				);
		}
	} catch (thrown) {
		throw toError(thrown, provider);
	}
}

/** Requests a streamed answer and emits its events. Every failure is an error with a code. */
export async function follow(
	source: LanguageModelSource,
	request: LLMRequest,
	deadline: Deadline,
	emit: Emit,
): Promise<LLMResponse> {
	const { provider } = source;
	const { signal } = deadline;
	let cancel = ignore;
	try {
		const loaded = source.load(request.config ?? {});
		const model = "then" in loaded ? await loaded : loaded;
		const answer = new Answer(
			emit,
			request.structure === undefined ? "text" : "structured",
			wireTools(request.tools, dialectOf(model)).renamed,
			model.provider,
		);
		for (let given = request, pauses = 0; ; pauses++) {
			const result = await model.doStream(toCallOptions(given, model, signal));
			if (typeof result?.stream?.getReader !== "function") throw malformed(provider, "it has no stream");
			const reader = result.stream.getReader();
			cancel = () => void reader.cancel(signal.reason).catch(ignore);
			if (signal.aborted) cancel();
			deadline.onReached = cancel;
			answer.finishReason = undefined;
			for (;;) {
				const { done, value } = await reader.read();
				if (done) break;
				if (value?.type === "error") throw value.error;
				hear(deadline, value);
				take(answer, value, provider);
			}
			signal.throwIfAborted();
			if (isCutOff(answer.finishReason)) throw cutOff(provider);
			if (!answer.isPaused || pauses >= mostPauses) break;
			given = continued(request, answer);
		}
		const response = checkResponse(withData(answer.finish(), request, provider), provider);
		emit({ type: "message_stop", index: 0, delta: {} });
		return response;
	} catch (thrown) {
		cancel();
		throw toError(thrown, provider);
	}
}

/** If a provider pauses more often than this, its output so far is the answer. */
const mostPauses = 32;

/**
 * Returns the request by which a provider continues a turn that it paused: its output so far follows the conversation.
 */
function continued(request: LLMRequest, answer: Answer): LLMRequest {
	return { ...request, messages: [...request.messages, answer.soFar()] };
}

function ignore(): void {}

/** Parts without content: they do not count as activity of a provider. */
const contentless: ReadonlySet<string> = new Set([
	"stream-start",
	"response-metadata",
	"raw",
	"text-start",
	"text-end",
	"reasoning-start",
	"reasoning-end",
	"tool-input-start",
	"tool-input-end",
]);

function hear(deadline: Deadline, part: StreamPart): void {
	const { delta, providerMetadata } = part as { delta?: unknown; providerMetadata?: unknown };
	const characters = providerMetadata === undefined ? 0 : charactersOf(providerMetadata);
	if (typeof delta === "string") deadline.heard(delta.length + characters, delta !== "");
	else deadline.heard(charactersOf(part), !contentless.has(part?.type));
}

function take(answer: Answer, part: StreamPart, provider: string): void {
	try {
		answer.take(part);
	} catch (cause) {
		throw isHoldfastError(cause) ? cause : malformed(provider, messageOf(cause), cause);
	}
}

// A block of a whole answer is one delta.
function takeWhole(answer: Answer, part: StreamPart & { text?: string }, id: string, provider: string): void {
	if (part?.type !== "text" && part?.type !== "reasoning") {
		take(answer, part, provider);
		return;
	}
	const { type, text = "", providerMetadata } = part;
	const metadata = providerMetadata === undefined ? {} : { providerMetadata };
	take(answer, { type: `${type}-delta`, id, delta: text, ...metadata }, provider);
	take(answer, { type: `${type}-end`, id }, provider);
}

// Our own errors already explain what to do.
function toError(thrown: unknown, provider: string): unknown {
	return isHoldfastError(thrown) ? thrown : toUPPError(thrown, provider);
}

function withData(response: LLMResponse, request: LLMRequest, provider: string, given?: string): LLMResponse {
	const { stopReason } = response;
	if (request.structure === undefined || stopReason === "tool_calls" || stopReason === "content_filter") {
		return response;
	}
	try {
		return { ...response, data: JSON.parse(given ?? response.message.text) };
	} catch (cause) {
		if (request.unparsed === "keep") return response;
		const why = stopReason === "length" ? "it was cut off at the token limit" : "it is not JSON";
		const message = `The model's answer does not follow the requested structure: ${why}.`;
		throw new UPPError(message, "INVALID_RESPONSE", provider, "llm", undefined, cause);
	}
}

function cutOff(provider: string): UPPError {
	const message = "The model's answer was cut off: the stream ended without a stop reason.";
	return new UPPError(message, "NETWORK_ERROR", provider, "llm");
}

function malformed(provider: string, what: string, cause?: unknown): UPPError {
	const message = `The model's answer is not what the AI SDK specifies: ${what}. Update the provider's package.`;
	return new UPPError(message, "INVALID_RESPONSE", provider, "llm", undefined, cause);
}
