// An inverted index in memory that ranks by BM25: frequent occurrences and rare words raise the score, long texts lower
// it.

/** The number of a text, and its score. */
export interface Ranked {
	readonly seq: number;
	readonly score: number;
}

/** How soon repetitions of a word stop raising the score. */
const saturation = 1.2;
/** How much the length of a text counts, from 0 to 1. */
const lengthWeight = 0.75;

export class WordIndex {
	/** Occurrences of each word in each text. */
	readonly #words = new Map<string, Map<number, number>>();
	/** Distinct words of each text, and its number of words. */
	readonly #texts = new Map<number, { readonly words: readonly string[]; readonly length: number }>();
	#length = 0;

	/** Adds a text. If `wanted` is given, only its words can be searched for; all words count towards the length. */
	add(seq: number, words: readonly string[], wanted?: ReadonlySet<string>): void {
		const own = new Set<string>();
		for (const word of words) {
			if (wanted?.has(word) === false) continue;
			own.add(word);
			const texts = this.#words.get(word) ?? new Map<number, number>();
			this.#words.set(word, texts.set(seq, (texts.get(seq) ?? 0) + 1));
		}
		this.#texts.set(seq, { words: [...own], length: words.length });
		this.#length += words.length;
	}

	/** Removes a text. */
	remove(seq: number): void {
		const text = this.#texts.get(seq);
		if (text === undefined) return;
		for (const word of text.words) {
			const texts = this.#words.get(word);
			texts?.delete(seq);
			if (texts?.size === 0) this.#words.delete(word);
		}
		this.#texts.delete(seq);
		this.#length -= text.length;
	}

	/** Returns the texts with at least one of the words, best first, newest first among equals. */
	rank(words: readonly string[]): readonly Ranked[] {
		const count = this.#texts.size;
		const scores = new Map<number, number>();
		for (const word of words) {
			const texts = this.#words.get(word);
			if (texts === undefined) continue;
			const rarity = Math.log(1 + (count - texts.size + 0.5) / (texts.size + 0.5));
			for (const [seq, times] of texts) {
				const length = ((this.#texts.get(seq)?.length ?? 0) * count) / this.#length;
				const weight = saturation * (1 - lengthWeight + lengthWeight * length);
				const score = (rarity * times * (saturation + 1)) / (times + weight);
				scores.set(seq, (scores.get(seq) ?? 0) + score);
			}
		}
		return [...scores]
			.map(([seq, score]) => ({ seq, score }))
			.sort((one, other) => other.score - one.score || other.seq - one.seq);
	}
}
