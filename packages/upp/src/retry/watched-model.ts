// Watches a model that has no retries and no time limit: an answer that is silent for too long or too large is abandoned.
// The model's own errors are passed on unchanged, and its events are read only as fast as the consumer reads them.
import {
	type BoundLLMModel,
	isRetrying,
	type LLMRequest,
	type LLMResponse,
	type LLMStreamResult,
} from "../model/index.ts";
import type { StreamEvent } from "../stream/index.ts";
import { AnswerWatch, isUnlimited } from "./answer-watch.ts";
import { charactersOf } from "./characters-of.ts";

/** Returns the model with the limits of each request's config. A model that has its own is returned unchanged. */
export function watchedModel(model: BoundLLMModel, provider: string): BoundLLMModel {
	if (isRetrying(model)) return model;
	const unlimited = ({ config }: LLMRequest): boolean => config !== undefined && isUnlimited(config);
	return {
		...model,
		complete: (request) =>
			unlimited(request) ? model.complete(request) : answerTo(request, model).complete(model, provider),
		stream: (request) =>
			unlimited(request) ? model.stream(request) : answerTo(request, model).stream(model, provider),
	};
}

/** One answer. Most answers complete immediately, so whatever only a silent or endless one needs is created on demand. */
class Watched {
	/**
	 * The request for this answer. Its signal fires when the answer is abandoned, and when its caller's signal fires,
	 * even after the answer.
	 */
	readonly #request: LLMRequest;
	/** The caller's signal. */
	readonly #given: AbortSignal | undefined;
	/** Set once the model is asked. */
	#model: BoundLLMModel | undefined;
	#controller: AbortController | undefined;
	#signal: AbortSignal | undefined;
	/** The reason the answer was abandoned. */
	#left: { readonly error: unknown } | undefined;
	/** Rejects the answer. */
	#failAnswer: ((error: unknown) => void) | undefined;
	/** Rejects the pending read. */
	#fail: ((error: unknown) => void) | undefined;

	constructor(request: LLMRequest, given: AbortSignal | undefined) {
		this.#request = request;
		this.#given = given;
	}

	/**
	 * Whether it can still answer this request: its model was not asked, and the request is not a copy, which carries the
	 * answer of its original.
	 */
	isFor(request: LLMRequest): boolean {
		return this.#model === undefined && this.#request === request;
	}

	/**
	 * Returns the signal for another answer to its request. Another model's answer is part of this answer, and ends with
	 * it.
	 */
	signalFor(model: BoundLLMModel): AbortSignal | undefined {
		return this.#model === model ? this.#given : this.signal;
	}

	get signal(): AbortSignal | undefined {
		if (this.#signal !== undefined) return this.#signal;
		if (this.#model === undefined) return this.#given;
		this.#controller = new AbortController();
		if (this.#left !== undefined) this.#controller.abort(this.#left.error);
		const { signal } = this.#controller;
		this.#signal = this.#given === undefined ? signal : AbortSignal.any([this.#given, signal]);
		return this.#signal;
	}

	complete(model: BoundLLMModel, provider: string): Promise<LLMResponse> {
		const watch = this.#begin(model, provider);
		try {
			return this.#answer(model.complete(this.#request), watch, "whole");
		} catch (error) {
			watch.close();
			return Promise.reject(error);
		}
	}

	stream(model: BoundLLMModel, provider: string): LLMStreamResult {
		const watch = this.#begin(model, provider);
		let source: LLMStreamResult;
		let response: Promise<LLMResponse>;
		try {
			source = model.stream(this.#request);
			response = this.#answer(source.response, watch, "streamed");
		} catch (error) {
			watch.close();
			throw error;
		}
		response.catch(() => {}); // readers of the events get it there
		return { response, [Symbol.asyncIterator]: () => this.#iterator(source[Symbol.asyncIterator](), watch) };
	}

	#begin(model: BoundLLMModel, provider: string): AnswerWatch {
		this.#model = model;
		return new AnswerWatch(this.#request.config, provider, this);
	}

	/** Returns the outcome of an answer, or rejects with the reason why it was abandoned. It is watched until then. */
	#answer(
		asked: Promise<LLMResponse>,
		watch: AnswerWatch,
		manner: "whole" | "streamed",
	): Promise<LLMResponse> {
		return new Promise((resolve, reject) => {
			this.#failAnswer = reject;
			const failed = (error: unknown): void => {
				watch.close();
				reject(error);
			};
			asked.then((response) => {
				try {
					if (manner === "whole") watch.heard(charactersOfWhole(response), false);
				} catch (error) {
					failed(error);
					return;
				}
				watch.close();
				resolve(response);
			}, failed);
		});
	}

	leave(error: unknown): void {
		this.#left = { error };
		this.#fail?.(error);
		this.#failAnswer?.(error);
		this.#controller?.abort(error);
	}

	#iterator(events: AsyncIterator<StreamEvent>, watch: AnswerWatch): AsyncIterator<StreamEvent> {
		const leave = events.return?.bind(events);
		return {
			next: () =>
				new Promise((resolve, reject) => {
					this.#fail = reject;
					events.next().then((next) => {
						try {
							if (next.done !== true) hear(watch, next.value);
							resolve(next);
						} catch (error) {
							leave?.().catch(() => {});
							reject(error);
						}
					}, reject);
				}),
			...(leave === undefined ? {} : { return: leave }),
		};
	}
}

function hear(watch: AnswerWatch, event: StreamEvent | null): void {
	const characters = charactersOf(event?.delta);
	watch.heard(characters, characters > 0);
}

function charactersOfWhole(response: LLMResponse): number {
	const { content, toolCalls } = response?.message ?? {};
	return charactersOf(content) + charactersOf(toolCalls);
}

const answer = Symbol("answer");

/** A request with its current or previous answer. */
type Answered = LLMRequest & { [answer]?: Watched };

type Members = { signal?: PropertyDescriptor } & PropertyDescriptorMap;

/** One accessor for all requests. A copy of the request contains the signal itself. */
const lazySignal: PropertyDescriptor & ThisType<Required<Answered>> = {
	get(): AbortSignal | undefined {
		return this[answer].signal;
	},
	set(signal: AbortSignal | undefined): void {
		Object.defineProperty(this, "signal", {
			value: signal,
			enumerable: true,
			configurable: true,
			writable: true,
		});
	},
	enumerable: true,
	configurable: true,
};

/**
 * Prepares a request for its answer, so that it need not be copied. It must not have a signal yet, because replacing a
 * member with an accessor makes an object slow.
 */
export function watchable(request: Omit<LLMRequest, "signal">, signal: AbortSignal | undefined): LLMRequest {
	const prepared = request as Answered;
	prepared[answer] = new Watched(prepared, signal);
	return Object.defineProperty(prepared, "signal", lazySignal);
}

/** Returns the answer that the request was prepared for, or one to a copy, made without computing its lazy messages. */
function answerTo(request: LLMRequest, model: BoundLLMModel): Watched {
	const prepared = (request as Answered)[answer];
	if (prepared?.isFor(request) === true) return prepared;
	const { signal, ...members } = Object.getOwnPropertyDescriptors(request) as Members;
	const given = signal?.get === lazySignal.get ? prepared?.signalFor(model) : request.signal;
	const copy = watchable(Object.defineProperties({}, members) as LLMRequest, given);
	return (copy as Required<Answered>)[answer];
}
