// The scanner: one pass from left to right over a text, whole or in pieces, with the same outcome wherever it is cut.
// searching → (a rule says hit) → masking the rest of it → searching; a rule that says `more` holds the text from there on.
import { bearerAt, bearerStart, jwtAt, jwtStart, keyAt, keyStart, pemAt } from "./credentials.ts";
import { emailAt, emailSign, isLocal } from "./emails.ts";
import { afterName, fieldAt, fieldNames } from "./fields.ts";
import { maskOf } from "./mask.ts";
import { type Asked, labelledAt, numberAt, numberStart, phoneLabel } from "./numbers.ts";
import { type Answer, endOfRun, type Place, type Rest } from "./rule.ts";

/** Which rules are asked. */
export type Kinds = "all" | "credentials";

/** One group each, in the order of `#ask`. */
const credentials = [
	"(-----BEGIN )",
	`(${jwtStart})`,
	`(${bearerStart})`,
	`(${keyStart})`,
	`((?:${insensitive(fieldNames)})${afterName})`,
];
const personal = [`(${numberStart})`, `(${phoneLabel})`, `(${emailSign})`];
const triggers: Readonly<Record<Kinds, string>> = {
	all: [...credentials, ...personal].join("|"),
	credentials: credentials.join("|"),
};

/** The same at a place that something masked ends at: that is a border, whatever it was. */
function atBorder(trigger: string): string {
	return trigger.replace(/\(\?<![^)]*\)/g, "").replace("(\\b", "(");
}

/** Made once: to make them costs more than most texts. Whoever uses one says from where. */
const patterns = {
	all: { trigger: new RegExp(triggers.all, "g"), border: new RegExp(atBorder(triggers.all), "y") },
	credentials: {
		trigger: new RegExp(triggers.credentials, "g"),
		border: new RegExp(atBorder(triggers.credentials), "y"),
	},
} as const satisfies Readonly<Record<Kinds, { readonly trigger: RegExp; readonly border: RegExp }>>;

/** What is shorter holds nothing that has a shape: `pwd=x` is the shortest. */
const shortest = 5;

/** A whole text at once. */
export function scanned(text: string, kinds: Kinds): string {
	if (text.length < shortest) return text;
	const { trigger } = patterns[kinds];
	trigger.lastIndex = 0;
	return trigger.test(text) ? new Scanner(kinds).whole(text) : text;
}

/** So much is kept of what was emitted, for rules that look back. */
const lookBack = 96;
/** So much may be held at the end of a piece, besides what a rule holds. */
const lookAhead = 80;

export class Scanner {
	readonly #trigger: RegExp;
	readonly #border: RegExp;
	readonly #asked: Asked = { questions: 0 };
	/** What was emitted last, then what is held. */
	#text = "";
	/** Where what is held begins. */
	#held = 0;
	/** Nothing before this belongs to anything that follows. */
	#floor = 0;
	#rest: Rest | undefined;

	constructor(kinds: Kinds) {
		const { trigger, border } = patterns[kinds];
		this.#trigger = trigger;
		this.#border = border;
	}

	/** Takes a piece; gives what is sure by now. */
	push(piece: string): string {
		if (piece === "") return "";
		this.#text = this.#text.slice(Math.max(0, this.#held - lookBack)) + piece;
		const cut = Math.max(0, this.#held - lookBack);
		this.#held -= cut;
		this.#floor = Math.max(0, this.#floor - cut);
		return this.#advance(false);
	}

	/** Gives what was held: the text is over. */
	flush(): string {
		return this.#advance(true);
	}

	/** The whole text at once. */
	whole(text: string): string {
		this.#text = text;
		return this.#advance(true);
	}

	#advance(isWhole: boolean): string {
		const text = this.#text;
		let out = "";
		/** Up to here everything is in `out`. */
		let done = this.#held;
		let from = done;
		if (this.#rest !== undefined) done = from = this.#drop(this.#rest, done, isWhole);
		let until = isWhole || this.#rest !== undefined ? text.length : Math.max(done, this.#sure(done));
		while (this.#rest === undefined) {
			const found = this.#next(from);
			if (found === null) break;
			const at = found.index;
			const answer = this.#ask(found, { text, at, floor: this.#floor, isWhole });
			if (answer === "more") {
				until = Math.min(until, startOf(text, at, Math.max(done, this.#floor)));
				break;
			}
			if (answer === undefined || answer.start < done) {
				from = Math.max(from, at + 1);
				continue;
			}
			out += text.slice(done, answer.start) + maskOf(answer.type);
			done = from = this.#floor = answer.end;
			if (answer.rest !== undefined) done = from = this.#drop(answer.rest, answer.end, isWhole);
			until = isWhole || this.#rest !== undefined ? text.length : Math.max(done, this.#sure(done));
		}
		if (this.#rest !== undefined) until = done;
		if (until > done) out += text.slice(done, until);
		this.#held = Math.max(done, until);
		return out;
	}

	#next(from: number): RegExpExecArray | null {
		const text = this.#text;
		const floor = this.#floor;
		const at = (place: number): RegExpExecArray | null => {
			this.#border.lastIndex = place;
			return this.#border.exec(text);
		};
		if (floor > 0 && from <= floor + 1) {
			const found = from === floor ? at(floor) : null;
			if (found !== null) return found;
			// What parts two numbers makes one of them only where both are still to be seen.
			const number = /[ ./:,-]/.test(text[floor] ?? "") ? at(floor + 1) : null;
			if (number?.[6] !== undefined) return number;
		}
		this.#trigger.lastIndex = from;
		return this.#trigger.exec(text);
	}

	/** Drops what belongs to something that is masked; gives where that ends. */
	#drop(rest: Rest, from: number, isWhole: boolean): number {
		const text = this.#text;
		let at = from;
		for (;;) {
			const end = endOfRun(rest.part, text, at);
			if (end === at) break;
			at = end;
		}
		const last = rest.last === undefined ? at : endOfRun(rest.last, text, at);
		const isOpen =
			last === at &&
			(at === text.length || (rest.unsure !== undefined && endOfRun(rest.unsure, text, at) === text.length));
		this.#rest = isOpen && !isWhole ? rest : undefined;
		if (isOpen && isWhole && at < text.length) at = text.length;
		this.#floor = Math.max(at, last);
		return this.#floor;
	}

	/** Up to where nothing can become anything else, whatever follows; rules that were triggered are asked apart. */
	#sure(done: number): number {
		const text = this.#text;
		const least = Math.max(done, text.length - lookAhead);
		let words = text.length;
		while (words > least && isLocal(text.charCodeAt(words - 1))) words--;
		let digits = text.length;
		while (digits > least && isOfNumber(text.charCodeAt(digits - 1))) digits--;
		while (digits < words && !startsNumber(text.charCodeAt(digits))) digits++;
		return Math.min(words, digits);
	}

	#ask(found: RegExpExecArray, place: Place): Answer {
		if (found[8] !== undefined) return emailAt(place);
		if (found[7] !== undefined) return labelledAt(place, this.#asked);
		if (found[6] !== undefined) return numberAt(place, this.#asked);
		if (found[5] !== undefined) return fieldAt(place);
		if (found[4] !== undefined) return keyAt(place);
		if (found[3] !== undefined) return bearerAt(place);
		return found[2] === undefined ? pemAt(place) : jwtAt(place);
	}
}

/** What waits for more is held with the word that it is in: that may be an address. */
function startOf(text: string, at: number, least: number): number {
	let start = at;
	while (start > least && at - start < lookAhead && isLocal(text.charCodeAt(start - 1))) start--;
	return start;
}

function isOfNumber(code: number): boolean {
	return (
		(code >= 48 && code <= 57) ||
		code === 32 ||
		(code >= 40 && code <= 47 && code !== 42 && code !== 44) ||
		code === 160
	);
}

function startsNumber(code: number): boolean {
	return (code >= 48 && code <= 57) || code === 43 || code === 40;
}

/** A pattern whose letters match in either case. */
function insensitive(source: string): string {
	return source.replace(/(?<!\\|\?)[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`);
}
