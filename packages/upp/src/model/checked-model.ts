// Validates every answer of a model before it is used, for models of every provider, whether created by `createProvider`
// or by hand.

import { HoldfastError } from "../errors/index.ts";
import type { StreamEvent } from "../stream/index.ts";
import { checkResponse, invalidResponse } from "./check-response.ts";
import type { BoundLLMModel, LLMRequest, LLMResponse, LLMStreamResult } from "./model-port.ts";
import { isRetrying, markRetrying } from "./own-retries.ts";

const checked = new WeakSet<BoundLLMModel>();

/** Marks a model that validates its answers itself. */
export function markChecked(model: BoundLLMModel): BoundLLMModel {
	checked.add(model);
	return model;
}

/**
 * Wraps the model so that its answers are validated; a wrapped model is returned unchanged.
 * @throws HoldfastError `invalid_model` for any other value.
 */
export function checkedModel(model: BoundLLMModel, provider: string): BoundLLMModel {
	if (checked.has(model)) return model;
	requireModel(model, provider);
	const check = (response: unknown): LLMResponse => checkResponse(response, provider);
	const made: BoundLLMModel = {
		modelId: model.modelId,
		capabilities: model.capabilities,
		complete: (request) => Promise.resolve(completed(model, request)).then(check),
		stream: (request) => new CheckedStream(model.stream(request), provider, check),
	};
	markChecked(made);
	return isRetrying(model) ? markRetrying(made) : made;
}

/** A model created by hand may only support streaming. */
function completed(model: BoundLLMModel, request: LLMRequest): Promise<LLMResponse> {
	if (typeof model.complete === "function") return model.complete(request);
	return drained(model.stream(request));
}

async function drained(stream: LLMStreamResult): Promise<LLMResponse> {
	stream.response.catch(() => {}); // the iteration or the return reports it
	for await (const _ of stream);
	return stream.response;
}

/** The stream of a model. Its answer is validated when requested. */
class CheckedStream implements LLMStreamResult {
	readonly #source: LLMStreamResult;
	readonly #check: (response: unknown) => LLMResponse;
	#response: Promise<LLMResponse> | undefined;

	constructor(source: LLMStreamResult, provider: string, check: (response: unknown) => LLMResponse) {
		if (typeof source?.[Symbol.asyncIterator] !== "function" || typeof source.response?.then !== "function")
			throw invalidResponse(provider, "`stream()` should return an iterable with a promise `response`");
		this.#source = source;
		this.#check = check;
	}

	get response(): Promise<LLMResponse> {
		this.#response ??= this.#source.response.then(this.#check);
		return this.#response;
	}

	[Symbol.asyncIterator](): AsyncIterator<StreamEvent> {
		return this.#source[Symbol.asyncIterator]();
	}
}

function requireModel(model: BoundLLMModel | null | undefined, provider: string): void {
	const { modelId, capabilities, complete, stream } = model ?? {};
	const missing =
		typeof modelId !== "string"
			? "`modelId`, a text"
			: typeof capabilities !== "object" || capabilities === null
				? "`capabilities`, an object"
				: typeof (capabilities.streaming ? stream : complete) !== "function"
					? `\`${capabilities.streaming ? "stream" : "complete"}\`, a function`
					: undefined;
	if (missing === undefined) return;
	throw new HoldfastError(
		"invalid_model",
		`The provider "${provider}" returned a value that is not a model: it needs ${missing}.`,
	);
}
