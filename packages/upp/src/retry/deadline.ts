// Ends a model call early: because its time has expired, its caller cancelled it, or its provider is silent or sends too
// much. Each attempt has its own signal, so that listeners which a provider leaves on it are released with the attempt.

import { UPPError } from "../errors/index.ts";
import type { LLMRequest, ProviderConfig } from "../model/index.ts";
import { startTimer } from "../time/index.ts";
import { AnswerWatch } from "./answer-watch.ts";

/** The end of one call. */
export class Deadline {
	#controller = new AbortController();
	readonly #config: ProviderConfig | undefined;
	#watch: AnswerWatch | undefined;
	#isOver = false;
	readonly #given: AbortSignal | undefined;
	readonly #provider: string;
	readonly #reached: (error: UPPError) => void;
	readonly #cancel = (): void => this.#end(cancelled(this.#provider, this.#given?.reason));
	#stopTimer: (() => void) | undefined;
	/** Called once when the call must end; costs less than a listener on the signal. */
	onReached: (() => void) | undefined;

	/** `reached` is called at most once, with the reason, before the signal fires. */
	constructor({ signal, config }: LLMRequest, provider: string, reached: (error: UPPError) => void) {
		this.#config = config;
		this.#given = signal;
		this.#provider = provider;
		this.#reached = reached;
		if (signal?.aborted) {
			this.#cancel();
			return;
		}
		signal?.addEventListener("abort", this.#cancel);
		const timeout = config?.timeout;
		if (timeout !== undefined) this.#stopTimer = startTimer(timeout, () => this.#expire(timeout));
	}

	/** Aborted when the attempt must end. */
	get signal(): AbortSignal {
		return this.#controller.signal;
	}

	/** Whether the call as a whole has ended. */
	get isOver(): boolean {
		return this.#isOver;
	}

	/** Returns the outcome of one attempt, or rejects with the reason why it was abandoned. */
	attempt<T>(run: () => PromiseLike<T>): Promise<T> {
		return new Promise((resolve, reject) => {
			const leave = (error: UPPError): void => {
				reject(error);
				this.#controller.abort(error);
				this.onReached?.();
			};
			this.#watch = new AnswerWatch(this.#config, this.#provider, { leave });
			run().then(resolve, reject);
		});
	}

	/** Records that the provider has sent something: see `AnswerWatch`. */
	heard(characters: number, content: boolean): void {
		this.#watch?.heard(characters, content);
	}

	/** Prepares the next attempt after a failed one: it gets a signal that is not aborted. */
	renew(): void {
		this.#watch?.close();
		this.onReached = undefined;
		if (this.#controller.signal.aborted) this.#controller = new AbortController();
	}

	/** Called when the call has settled, so that nothing can end it. */
	close(): void {
		this.#watch?.close();
		this.#stopTimer?.();
		this.#given?.removeEventListener("abort", this.#cancel);
	}

	#expire(timeout: number): void {
		const message = `The model call took longer than the ${timeout} ms that \`config.timeout\` allows.`;
		this.#end(new UPPError(message, "TIMEOUT", this.#provider, "llm"));
	}

	#end(error: UPPError): void {
		this.#isOver = true;
		this.close();
		this.#reached(error);
		this.#controller.abort(error);
		this.onReached?.();
	}
}

/** Creates the error of a cancelled call. */
export function cancelled(provider: string, reason?: unknown): UPPError {
	return new UPPError("The model call was cancelled.", "CANCELLED", provider, "llm", undefined, reason);
}
