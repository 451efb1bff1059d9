// Watches one answer of a provider: it must not be silent for too long, nor exceed the maximum size (keeps I7).
import { UPPError } from "../errors/index.ts";
import type { ProviderConfig } from "../model/index.ts";
import { startTimer } from "../time/index.ts";
import { type Silent, sharesTimer, unwatch, watch } from "./silence-watch.ts";

const defaultSilenceMs = 600_000;
const defaultCharacters = 16 * 1024 * 1024;
/** The minimum size that a piece counts for, because pieces without content count as well. */
const leastPiece = 16;
/** From this duration on, a second or two make no difference, so such silences share a timer. */
const longSilenceMs = 60_000;

/** Whether a config sets no limits on the time and size of answers. */
export function isUnlimited({ silenceMs, maxAnswerCharacters }: ProviderConfig): boolean {
	return silenceMs === Number.POSITIVE_INFINITY && maxAnswerCharacters === Number.POSITIVE_INFINITY;
}

/** A pending answer. */
interface Waiting {
	/** Called at most once, with the reason why the answer is abandoned. */
	leave(error: UPPError): void;
}

export class AnswerWatch implements Silent {
	place = -1;
	readonly #silenceMs: number;
	readonly #maxCharacters: number;
	readonly #provider: string;
	readonly #waiting: Waiting;
	#characters = 0;
	/**
	 * When the last content arrived. Undefined before the first. With a shared timer, also undefined after content
	 * arrives, until the timer's next check.
	 */
	#heardAt: number | undefined;
	#stopTimer: (() => void) | undefined;

	constructor(config: ProviderConfig | undefined, provider: string, waiting: Waiting) {
		this.#silenceMs = config?.silenceMs ?? defaultSilenceMs;
		this.#maxCharacters = config?.maxAnswerCharacters ?? defaultCharacters;
		this.#provider = provider;
		this.#waiting = waiting;
		if (this.#silenceMs === Number.POSITIVE_INFINITY) return;
		if (sharesTimer && this.#silenceMs >= longSilenceMs) watch(this);
		else this.#lookAfter(this.#silenceMs);
	}

	/**
	 * Records that the provider has sent this many characters. `content`: whether they end its silence.
	 * @throws UPPError INVALID_RESPONSE if the answer is too large.
	 */
	heard(characters: number, content: boolean): void {
		if (content) this.#heardAt = this.#stopTimer === undefined ? undefined : performance.now();
		this.#characters += Math.max(characters, leastPiece);
		if (this.#characters <= this.#maxCharacters) return;
		const message = `The model's answer has more than the ${this.#maxCharacters} characters that \`config.maxAnswerCharacters\` allows.`;
		const error = new UPPError(message, "INVALID_RESPONSE", this.#provider, "llm");
		this.close();
		this.#waiting.leave(error);
		throw error;
	}

	/** Stops watching: the answer is complete, or no longer needed. */
	close(): void {
		unwatch(this);
		this.#stopTimer?.();
	}

	/** Called by the shared timer. A silence starts with the first check that follows content. */
	look(now: number): void {
		if (this.#heardAt === undefined) this.#heardAt = now;
		else if (now - this.#heardAt >= this.#silenceMs) this.#tooSilent();
	}

	/** One timer covers many pieces: when it fires, it checks when the last one arrived. */
	#lookAfter(milliseconds: number): void {
		const look = (): void => {
			const left = this.#heardAt === undefined ? 0 : this.#heardAt + this.#silenceMs - performance.now();
			if (left > 1) this.#lookAfter(left);
			else this.#tooSilent();
		};
		this.#stopTimer = startTimer(milliseconds, look, { process: "release" });
	}

	#tooSilent(): void {
		this.close();
		const message = `The model has sent nothing for the ${this.#silenceMs} ms that \`config.silenceMs\` allows.`;
		this.#waiting.leave(new UPPError(message, "TIMEOUT", this.#provider, "llm"));
	}
}
