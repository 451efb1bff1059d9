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
import { withSignal } from "./retrying-model.ts";

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

/** One answer. */
class Watched {
	readonly #request: LLMRequest;
	readonly #controller = new AbortController();
	/** Fires when the answer is left, and when its caller's signal does: of that one nothing is lost after the answer either. */
	readonly #signal: AbortSignal;
	readonly #watch: AnswerWatch;
	readonly #left = Promise.withResolvers<never>();
	/** Rejects the read that waits. */
	#fail: ((error: unknown) => void) | undefined;

	constructor(request: LLMRequest, provider: string) {
		this.#request = request;
		this.#left.promise.catch(() => {}); // it is raced below
		const { signal } = this.#controller;
		this.#signal = request.signal === undefined ? signal : AbortSignal.any([request.signal, signal]);
		this.#watch = new AnswerWatch(request.config, provider, (error) => {
			this.#fail?.(error);
			this.#left.reject(error);
			this.#controller.abort(error);
		});
	}

	async complete(model: BoundLLMModel): Promise<LLMResponse> {
		try {
			const answer = model.complete(withSignal(this.#request, this.#signal));
			const response = await Promise.race([answer, this.#left.promise]);
			const { content, toolCalls } = response?.message ?? {};
			this.#watch.heard(charactersOf([content, toolCalls]), true);
			return response;
		} finally {
			this.#watch.close();
		}
	}

	stream(model: BoundLLMModel): LLMStreamResult {
		const source = model.stream(withSignal(this.#request, this.#signal));
		const response = Promise.race([source.response, this.#left.promise]);
		response.catch(() => {}); // who reads the events gets it there
		const close = (): void => this.#watch.close();
		source.response.then(close, close);
		return { response, [Symbol.asyncIterator]: () => this.#iterator(source[Symbol.asyncIterator]()) };
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
