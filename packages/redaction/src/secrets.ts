// Masks registered secrets, in complete texts and in pieces with the same result. A possible beginning of a secret is
// held.
import { maskOf, maskPattern } from "./mask.ts";
import { endOfRun } from "./rule.ts";
import {
	beginnings,
	firstCharacters,
	formsOf,
	longestOf,
	plainForms,
	reachOf,
	type SecretForm,
} from "./secret-forms.ts";

/** Number of characters used to decide whether a text has to be scanned: more take longer and exclude little more. */
const shortBeginning = 8;

/** The search structures for a set of secrets. */
export class SecretSet {
	readonly forms: readonly SecretForm[];
	/** Sources of patterns, and sets, created once. */
	readonly source: string;
	readonly first: ReadonlySet<string>;
	readonly longest: number;
	/** A shorter text cannot contain a secret. */
	readonly #shortest: number;
	/** Finds the start of a form; only then is the rest compared. */
	readonly #coded: RegExp;
	/** Much faster; undefined if every secret contains an encoding character. */
	readonly #plain: RegExp | undefined;

	/** Empty values are not secrets. */
	constructor(values: readonly string[]) {
		this.forms = values.flatMap(formsOf);
		this.source = `${maskPattern}|${beginnings(this.forms)}`;
		this.first = firstCharacters(this.forms);
		this.longest = longestOf(this.forms);
		this.#shortest = Math.min(...this.forms.map(({ units }) => units.length));
		this.#coded = new RegExp(beginnings(this.forms, shortBeginning));
		const plain = plainForms(this.forms);
		this.#plain = plain.length === 0 ? undefined : new RegExp(beginnings(plain, shortBeginning));
	}

	mask(text: string): string {
		if (text.length < this.#shortest) return text;
		const isCoded = text.includes("%") || text.includes("\\");
		return (isCoded ? this.#coded : this.#plain)?.test(text) === true
			? new SecretStream(this).whole(text)
			: text;
	}
}

const mask = new RegExp(maskPattern, "y");
const maskSoFar = /\[[A-Z]{0,8}:?[a-z-]{0,20}$/y;

export class SecretStream {
	readonly #set: SecretSet;
	readonly #find: RegExp;
	#text = "";

	constructor(set: SecretSet) {
		this.#set = set;
		this.#find = new RegExp(set.source, "g");
	}

	push(piece: string): string {
		this.#text += piece;
		return this.#advance(false);
	}

	flush(): string {
		return this.#advance(true);
	}

	whole(text: string): string {
		this.#text = text;
		return this.#advance(true);
	}

	#advance(isWhole: boolean): string {
		const text = this.#text;
		let out = "";
		let done = 0;
		let from = 0;
		let held = text.length;
		for (;;) {
			this.#find.lastIndex = from;
			const at = this.#find.exec(text)?.index ?? -1;
			if (at < 0) break;
			const { end, isCut } = this.#reach(at);
			if (isCut && !isWhole) {
				held = at;
				break;
			}
			// A mask is left unchanged, even if a secret is a word in it.
			const masked = endOfRun(mask, text, at);
			if (masked > at) from = masked;
			else if (end < 0) from = at + 1;
			else {
				out += text.slice(done, at) + maskOf("secret");
				done = from = end;
			}
		}
		if (!isWhole) held = Math.min(held, this.#beginning(from));
		out += text.slice(done, held);
		this.#text = isWhole ? "" : text.slice(held);
		return out;
	}

	/** Returns the longest form at a position. */
	#reach(at: number): { end: number; isCut: boolean } {
		let end = -1;
		let isCut = false;
		for (const form of this.#set.forms) {
			const reach = reachOf(form, this.#text, at);
			end = Math.max(end, reach.end);
			isCut ||= reach.isCut;
		}
		return { end, isCut };
	}

	/** Returns the position of a possible form that more text may complete. */
	#beginning(from: number): number {
		const text = this.#text;
		for (let at = Math.max(from, text.length - this.#set.longest); at < text.length; at++) {
			const character = text[at] as string;
			if (character === "[" && endOfRun(maskSoFar, text, at) === text.length) return at;
			if (this.#set.first.has(character) && this.#reach(at).isCut) return at;
		}
		return text.length;
	}
}
