// A model that has no retries and no time limit, watched all the same: an answer that is silent for too long or too large is left.
// Its own errors pass as they are, and its events are read as slowly as their reader reads.
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

/** The model with the limits of each request's config; one that has its own is returned as it is. */
export function watchedModel(model: BoundLLMModel, provider: string): BoundLLMModel {
	if (isRetrying(model)) return model;
	const unlimited = ({ config }: LLMRequest): boolean => config !== undefined && isUnlimited(config);
	return {
		...model,
		complete: (request) =>
			unlimited(request) ? model.complete(request) : new Watched(request, provider).complete(model),
		stream: (request) =>
			unlimited(request) ? model.stream(request) : new Watched(request, provider).stream(model),
	};
}

/** One answer. Most are whole before anything else happens, so what only a silent or endless one needs is made when it is used. */
class Watched {
	readonly #given: AbortSignal | undefined;
	readonly #watch: AnswerWatch;
	/** The request for this answer. Its signal fires when the answer is left, and when its caller's does, after the answer too. */
	readonly #request: LLMRequest;
	#controller: AbortController | undefined;
	#signal: AbortSignal | undefined;
	/** Why the answer was left. */
	#left: { readonly error: unknown } | undefined;
	/** Rejects the answer. */
	#failAnswer: ((error: unknown) => void) | undefined;
	/** Rejects the read that waits. */
	#fail: ((error: unknown) => void) | undefined;

	constructor(request: LLMRequest, provider: string) {
		this.#given = request.signal;
		this.#request = withLazySignal(request, this);
		this.#watch = new AnswerWatch(request.config, provider, (error) => this.#leave(error));
	}

	get signal(): AbortSignal {
		if (this.#signal !== undefined) return this.#signal;
		this.#controller = new AbortController();
		if (this.#left !== undefined) this.#controller.abort(this.#left.error);
		const { signal } = this.#controller;
		this.#signal = this.#given === undefined ? signal : AbortSignal.any([this.#given, signal]);
		return this.#signal;
	}

	complete(model: BoundLLMModel): Promise<LLMResponse> {
		return this.#answer(
			() => model.complete(this.#request),
			(response) => {
				const { content, toolCalls } = response?.message ?? {};
				this.#watch.heard(charactersOf(content) + charactersOf(toolCalls), false);
			},
		);
	}

	stream(model: BoundLLMModel): LLMStreamResult {
		const source = model.stream(this.#request);
		const response = this.#answer(() => source.response);
		response.catch(() => {}); // who reads the events gets it there
		return { response, [Symbol.asyncIterator]: () => this.#iterator(source[Symbol.asyncIterator]()) };
	}

	/** What an answer comes to, or why it was left. It is watched until then. */
	#answer(ask: () => Promise<LLMResponse>, check?: (response: LLMResponse) => void): Promise<LLMResponse> {
		return new Promise((resolve, reject) => {
			this.#failAnswer = reject;
			const failed = (error: unknown): void => {
				this.#watch.close();
				reject(error);
			};
			try {
				ask().then((response) => {
					try {
						check?.(response);
						this.#watch.close();
						resolve(response);
					} catch (error) {
						failed(error);
					}
				}, failed);
			} catch (error) {
				failed(error);
			}
		});
	}

	#leave(error: unknown): void {
		this.#left = { error };
		this.#fail?.(error);
		this.#failAnswer?.(error);
		this.#controller?.abort(error);
	}

	#iterator(events: AsyncIterator<StreamEvent>): AsyncIterator<StreamEvent> {
		const leave = events.return?.bind(events);
		return {
			next: () =>
				new Promise((resolve, reject) => {
					this.#fail = reject;
					events.next().then((next) => {
						try {
							if (next.done !== true) this.#heard(next.value);
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

	#heard(event: StreamEvent | null): void {
		const characters = charactersOf(event?.delta);
		this.#watch.heard(characters, characters > 0);
	}
}

const watched = Symbol("watched");

/** One accessor for all requests. A copy of the request has the signal itself. */
const lazySignal: PropertyDescriptor & ThisType<{ [watched]: Watched }> = {
	get(): AbortSignal {
		return this[watched].signal;
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

/** Copies the request without computing its lazy messages. */
function withLazySignal(request: LLMRequest, answer: Watched): LLMRequest {
	const isLazy = Object.getOwnPropertyDescriptor(request, "messages")?.get !== undefined;
	const copy = isLazy
		? Object.defineProperties({}, Object.getOwnPropertyDescriptors(request))
		: { ...request };
	(copy as { [watched]?: Watched })[watched] = answer;
	return Object.defineProperty(copy, "signal", lazySignal) as LLMRequest;
}
