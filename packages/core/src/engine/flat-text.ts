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
	#whole: string[] | undefined;
	#tail: string;

	constructor(text: string) {
		this.#tail = text;
	}

	append(text: string): void {
		this.#tail += text;
		if (this.#tail.length < flatFrom) return;
		this.#whole ??= [];
		this.#whole.push(flat(this.#tail));
		this.#tail = "";
	}

	toString(): string {
		return this.#whole === undefined ? this.#tail : this.#whole.join("") + this.#tail;
	}
}
