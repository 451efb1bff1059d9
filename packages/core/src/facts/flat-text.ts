// Text that grows piece by piece. JavaScript engines keep concatenations as trees, at some 60 bytes per piece. Long-lived
// text is flattened at intervals, so that its cost depends on its length and not on how finely it was streamed (keeps
// I7).

/** The length in characters from which growing text is flattened. */
export const flatFrom = 16_384;

const anything = /^/;

/** Returns the same text, stored by the engine as one string. */
export function flat(text: string): string {
	anything.test(text); // a search needs the string in one piece
	return text;
}

/** Growing text. */
export class GrowingText {
	readonly #whole: string[] = [];
	#pieces: string[];

	constructor(text: string) {
		this.#pieces = [text];
	}

	append(text: string): void {
		if (this.#pieces.push(text) < 1024) return;
		this.#whole.push(this.#pieces.join(""));
		this.#pieces = [];
	}

	toString(): string {
		return this.#whole.join("") + this.#pieces.join("");
	}
}
