// Text that grows piece by piece. Engines keep concatenations as trees, at some 60 bytes a piece; what is kept for
// long is made one string every so often, so that it costs what was said and not how finely it was streamed (keeps I7).

/** From how many characters on grown text is made one string and left as it is. */
export const flatFrom = 16_384;

const anything = /^/;

/** The same text, kept by the engine as one string. */
export function flat(text: string): string {
	anything.test(text); // a search needs the string in one piece
	return text;
}

/** Text under way. */
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
