// Watches an answer that no model of this layer gives, such as that of a project's own provider (keeps I7).
import type { ProviderConfig } from "../model/index.ts";
import { AnswerWatch, isUnlimited } from "./answer-watch.ts";
import { charactersOf } from "./characters-of.ts";

/** The limits of an answer. */
export type AnswerLimits = Pick<ProviderConfig, "silenceMs" | "maxAnswerCharacters">;

/** An answer in progress. */
export interface WatchedAnswer {
	/** Fires when the answer is abandoned, and when its caller's signal fires. Created when it is first read. */
	readonly signal: AbortSignal | undefined;
	/**
	 * Records a piece of the answer: its texts and bytes are counted.
	 * @throws UPPError `INVALID_RESPONSE` if the answer is too large.
	 */
	heard(piece: unknown): void;
}

/** The parts of a watched answer. */
export interface AnswerToWatch {
	/** Default: the limits of `ProviderConfig`. */
	readonly limits: AnswerLimits | undefined;
	/** The provider's name, for errors. */
	readonly provider: string;
	/** The caller's signal. */
	readonly signal: AbortSignal | undefined;
}

/**
 * Returns what `ask` returns, unless the answer is silent for too long or too large: then it rejects at once, and the
 * answer's signal fires. Reported pieces end a silence.
 * @throws UPPError `TIMEOUT` or `INVALID_RESPONSE`
 */
export function watchAnswer<Answer>(
	{ limits, provider, signal }: AnswerToWatch,
	ask: (watched: WatchedAnswer) => Promise<Answer>,
): Promise<Answer> {
	if (limits !== undefined && isUnlimited(limits)) return ask({ signal, heard() {} });
	return new Promise((resolve, reject) => {
		const watched = new Watched(signal, reject);
		const watch = new AnswerWatch(limits, provider, watched);
		watched.watch = watch;
		ask(watched)
			.then(resolve, reject)
			.finally(() => watch.close());
	});
}

class Watched implements WatchedAnswer {
	readonly #given: AbortSignal | undefined;
	readonly #reject: (error: unknown) => void;
	#left: { readonly error: unknown } | undefined;
	#controller: AbortController | undefined;
	#signal: AbortSignal | undefined;
	watch: AnswerWatch | undefined;

	constructor(given: AbortSignal | undefined, reject: (error: unknown) => void) {
		this.#given = given;
		this.#reject = reject;
	}

	get signal(): AbortSignal {
		if (this.#signal !== undefined) return this.#signal;
		this.#controller = new AbortController();
		if (this.#left !== undefined) this.#controller.abort(this.#left.error);
		const own = this.#controller.signal;
		this.#signal = this.#given === undefined ? own : AbortSignal.any([this.#given, own]);
		return this.#signal;
	}

	heard(piece: unknown): void {
		if (this.#left !== undefined) throw this.#left.error;
		const characters = charactersOf(piece);
		this.watch?.heard(characters, characters > 0);
	}

	leave(error: unknown): void {
		this.#left = { error };
		this.#reject(error);
		this.#controller?.abort(error);
	}
}
