// Shared by `retry` and `fallback`: a model that delegates to other models in attempts. If an attempt fails before any of
// its answer was emitted, another may follow; after that, its error becomes the answer's error.
import {
	type BoundLLMModel,
	createProvider,
	EventStream,
	HoldfastError,
	isHoldfastError,
	isUPPError,
	type LanguageModel,
	type LLMRequest,
	type LLMResponse,
	type ModelReference,
	messageOf,
	noRetry,
	resolveModel,
	type StreamEvent,
	UPPError,
} from "@holdfast/upp";

/** A model in any form that callers may pass. */
export type GivenModel = ModelReference | LanguageModel;

/** A model that is resolved but not bound yet. */
export interface FoundModel {
	readonly provider: string;
	readonly modelId: string;
	bind(): BoundLLMModel;
}

/** Resolves a model. @throws HoldfastError `no_language_model`, and the errors of `resolveModel`. */
export function findModel(model: GivenModel): FoundModel {
	const reference = resolveModel(model);
	const { modelId, options } = reference;
	const handler = reference.provider.modalities?.llm;
	if (handler !== undefined) {
		return { provider: reference.provider.name, modelId, bind: () => handler.bind(modelId, options) };
	}
	throw new HoldfastError(
		"no_language_model",
		`The provider "${reference.provider.name}" offers no language models. Give a model of another provider.`,
	);
}

/** Creates a reference to a model that is bound on use. */
export function referenceTo(name: string, modelId: string, bind: () => BoundLLMModel): ModelReference {
	return createProvider({ name, version: "1", modalities: { llm: { bind } } })(modelId);
}

/** The first model to ask, and how to continue after a failed attempt. */
export interface Attempts {
	readonly first: BoundLLMModel;
	/** The provider named in errors that are not UPPErrors. */
	readonly provider: string;
	/** `none` disables the retries of the models themselves. */
	readonly retries: "own" | "none";
	/** Returns the model to ask next, after waiting; undefined to give up. `failed` counts the attempts made, from 1. */
	next(failed: number, error: UPPError, request: LLMRequest): Promise<BoundLLMModel | undefined>;
}

/** Requests a whole answer until an attempt succeeds. */
export async function completeWith(attempts: Attempts, request: LLMRequest): Promise<LLMResponse> {
	return tryEach(
		attempts,
		request,
		(model, own) => model.complete(own),
		() => false,
	);
}

/** Requests a streamed answer until an attempt starts one. */
export function streamWith(attempts: Attempts, request: LLMRequest): EventStream<LLMResponse> {
	return new EventStream<LLMResponse>((target) =>
		tryEach(
			attempts,
			request,
			(model, own) => forward(model, own, target),
			() => target.started,
		),
	);
}

async function tryEach(
	attempts: Attempts,
	request: LLMRequest,
	ask: (model: BoundLLMModel, request: LLMRequest) => Promise<LLMResponse>,
	started: () => boolean,
): Promise<LLMResponse> {
	const own = requestOfAttempt(request, attempts.retries);
	let model = attempts.first;
	for (let failed = 1; ; failed++) {
		try {
			return await ask(model, own);
		} catch (thrown) {
			// A HoldfastError means that the call was set up wrongly: a retry would fail the same way.
			const isOurs = isHoldfastError(thrown) && !isUPPError(thrown);
			if (isOurs || started() || request.signal?.aborted === true) throw thrown;
			const error = toUPPError(thrown, attempts.provider);
			if (error.code === "CANCELLED") throw thrown;
			const next = await attempts.next(failed, error, request);
			if (next === undefined) throw thrown;
			model = next;
		}
	}
}

/** Events without content are held back: an answer that fails right after them counts as not started. */
const silent: ReadonlySet<StreamEvent["type"]> = new Set([
	"message_start",
	"content_block_start",
	"content_block_stop",
	"message_stop",
]);

async function forward(
	model: BoundLLMModel,
	request: LLMRequest,
	target: EventStream<LLMResponse>,
): Promise<LLMResponse> {
	const source = model.stream(request);
	source.response.catch(() => {}); // the iteration or the return reports it
	let held: StreamEvent[] | undefined = [];
	for await (const event of source) {
		if (held !== undefined) {
			held.push(event);
			if (silent.has(event.type)) continue;
			for (const each of held) target.push(each);
			held = undefined;
		} else target.push(event);
	}
	const response = await source.response;
	for (const each of held ?? []) target.push(each);
	return response;
}

/**
 * Returns the request of an attempt. A retry strategy in the config already wraps all attempts, so the models must not
 * apply it again. Messages that are computed on access are not evaluated here.
 */
function requestOfAttempt(request: LLMRequest, retries: Attempts["retries"]): LLMRequest {
	if (retries === "own" && request.config?.retryStrategy === undefined) return request;
	const copy = Object.defineProperties({}, Object.getOwnPropertyDescriptors(request)) as LLMRequest;
	copy.config = { ...request.config, retryStrategy: noRetry };
	return copy;
}

function toUPPError(thrown: unknown, provider: string): UPPError {
	if (isUPPError(thrown)) return thrown;
	const message = messageOf(thrown);
	return new UPPError(message, "PROVIDER_ERROR", provider, "llm", undefined, thrown);
}
