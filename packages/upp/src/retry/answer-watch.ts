// Watches one answer of a provider: it may not be silent for too long, nor send more than an answer may have (keeps I7).
import { UPPError } from "../errors/index.ts";
import type { ProviderConfig } from "../model/index.ts";
import { startTimer } from "../time/index.ts";

const defaultSilenceMs = 600_000;
const defaultCharacters = 16 * 1024 * 1024;
/** What a piece costs at least: pieces without content are counted, too. */
const leastPiece = 16;

/** Whether a config lets answers take any time and have any size. */
export function isUnlimited({ silenceMs, maxAnswerCharacters }: ProviderConfig): boolean {
	return silenceMs === Number.POSITIVE_INFINITY && maxAnswerCharacters === Number.POSITIVE_INFINITY;
}

export class AnswerWatch {
	readonly #silenceMs: number;
	readonly #maxCharacters: number;
	readonly #provider: string;
	readonly #leave: (error: UPPError) => void;
	#characters = 0;
	/** When the last content came; undefined before the first. */
	#heardAt: number | undefined;
	#stopTimer: () => void = () => {};

	/** `leave` is called once at most, with the reason for which the answer is left. */
	constructor(config: ProviderConfig | undefined, provider: string, leave: (error: UPPError) => void) {
		this.#silenceMs = config?.silenceMs ?? defaultSilenceMs;
		this.#maxCharacters = config?.maxAnswerCharacters ?? defaultCharacters;
		this.#provider = provider;
		this.#leave = leave;
		this.#lookAfter(this.#silenceMs);
	}

	/**
	 * The provider has sent so many characters. `content` says whether they end its silence.
	 * @throws UPPError INVALID_RESPONSE for more than an answer may have.
	 */
	heard(characters: number, content: boolean): void {
		if (content) this.#heardAt = performance.now();
		this.#characters += Math.max(characters, leastPiece);
		if (this.#characters <= this.#maxCharacters) return;
		const message = `The model's answer has more than the ${this.#maxCharacters} characters that \`config.maxAnswerCharacters\` allows.`;
		const error = new UPPError(message, "INVALID_RESPONSE", this.#provider, "llm");
		this.close();
		this.#leave(error);
		throw error;
	}

	/** The answer is whole, or nobody waits for it. */
	close(): void {
		this.#stopTimer();
	}

	/** One timer for many pieces: it looks when the last one came. */
	#lookAfter(milliseconds: number): void {
		const look = (): void => {
			const left = this.#heardAt === undefined ? 0 : this.#heardAt + this.#silenceMs - performance.now();
			if (left > 1) {
				this.#lookAfter(left);
				return;
			}
			const message = `The model has sent nothing for the ${this.#silenceMs} ms that \`config.silenceMs\` allows.`;
			this.#leave(new UPPError(message, "TIMEOUT", this.#provider, "llm"));
		};
		this.#stopTimer = startTimer(milliseconds, look, { process: "release" });
	}
}
