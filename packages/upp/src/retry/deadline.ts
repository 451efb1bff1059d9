// When a model call has to end before it is done: its time is over, or its caller cancelled it. Each call has a signal
// of its own, so that listeners which a provider leaves on it go with the call.

import { UPPError } from "../errors/index.ts";
import type { LLMRequest } from "../model/index.ts";
import { startTimer } from "../time/index.ts";

/** The end of one call. */
export class Deadline {
	/** Fires when the call must end. */
	readonly signal: AbortSignal;
	readonly #controller = new AbortController();
	readonly #given: AbortSignal | undefined;
	readonly #provider: string;
	readonly #reached: (error: UPPError) => void;
	readonly #cancel = (): void => this.#end(cancelled(this.#provider, this.#given?.reason));
	#stopTimer: (() => void) | undefined;
	/** Called once when the call must end; costs less than a listener on the signal. */
	onReached: (() => void) | undefined;

	/** `reached` is called at most once, with the reason, before the signal fires. */
	constructor({ signal, config }: LLMRequest, provider: string, reached: (error: UPPError) => void) {
		this.signal = this.#controller.signal;
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

	/** The call settled: nothing can end it any more. */
	close(): void {
		this.#stopTimer?.();
		this.#given?.removeEventListener("abort", this.#cancel);
	}

	#expire(timeout: number): void {
		const message = `The model call took longer than the ${timeout} ms that \`config.timeout\` allows.`;
		this.#end(new UPPError(message, "TIMEOUT", this.#provider, "llm"));
	}

	#end(error: UPPError): void {
		this.close();
		this.#reached(error);
		this.#controller.abort(error);
		this.onReached?.();
	}
}

/** The error of a call that was cancelled. */
export function cancelled(provider: string, reason?: unknown): UPPError {
	return new UPPError("The model call was cancelled.", "CANCELLED", provider, "llm", undefined, reason);
}
