// Watches one answer of a provider: it may not be silent for too long, nor send more than an answer may have (keeps I7).
import { UPPError } from "../errors/index.ts";
import type { ProviderConfig } from "../model/index.ts";
import { startTimer } from "../time/index.ts";
import { type Silent, sharesTimer, unwatch, watch } from "./silence-watch.ts";

const defaultSilenceMs = 600_000;
const defaultCharacters = 16 * 1024 * 1024;
/** The minimum size of a piece: pieces without content count as well. */
const leastPiece = 16;
/** From this on, a second or two more do not matter: such silences share a timer. */
const longSilenceMs = 60_000;

/** Whether a config lets answers take any time and have any size. */
export function isUnlimited({ silenceMs, maxAnswerCharacters }: ProviderConfig): boolean {
	return silenceMs === Number.POSITIVE_INFINITY && maxAnswerCharacters === Number.POSITIVE_INFINITY;
}

/** A pending answer. */
interface Waiting {
	/** Called once at most, with the reason for which the answer is left. */
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
	 * When the last content came. Undefined before the first; where the timer is shared also after each content, until the timer
	 * looks.
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
	 * The provider has sent so many characters. `content` says whether they end its silence.
	 * @throws UPPError INVALID_RESPONSE for more than an answer may have.
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

	/** The answer is complete, or no longer needed. */
	close(): void {
		unwatch(this);
		this.#stopTimer?.();
	}

	/** The shared timer looks: a silence begins when it first does. */
	look(now: number): void {
		if (this.#heardAt === undefined) this.#heardAt = now;
		else if (now - this.#heardAt >= this.#silenceMs) this.#tooSilent();
	}

	/** One timer for many pieces: it looks when the last one came. */
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
