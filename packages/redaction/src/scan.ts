// The scanner: one pass from left to right over a text, complete or in pieces, with the same result wherever it is cut.
// searching → (a rule matches) → masking the rest of the match → searching; a rule that returns `more` holds the text
// from there on.
import { bearerAt, bearerStart, jwtAt, jwtStart, keyAt, keyFirsts, keyStart, pemAt } from "./credentials.ts";
import { emailAt, emailSign, isLocal } from "./emails.ts";
import { afterName, fieldAt, fieldNames } from "./fields.ts";
import { maskOf } from "./mask.ts";
import { type Asked, labelledAt, numberAt, numberBorder, numberTrigger, phoneLabel } from "./numbers.ts";
import { type Answer, endOfRun, isAt, type Place, type Rest } from "./rule.ts";

/** Which rules apply. */
export type Kinds = "all" | "credentials";

interface Rule {
	/** Finds the next position at which to try the rule. */
	readonly trigger: RegExp;
	/** A text without this cannot match: searching for a character costs next to nothing. */
	readonly needs?: string;
	/** The same at the end of a mask, which always counts as a border. */
	readonly border: RegExp;
	/** The characters that `border` starts with. */
	readonly firsts: string;
	ask(place: Place, asked: Asked): Answer;
}

function rule(source: string, firsts: string, ask: Rule["ask"]): Rule {
	const atBorder = source.replace(/\(\?<![^)]*\)/g, "").replace(/^\\b/, "");
	return { trigger: new RegExp(source, "g"), border: new RegExp(atBorder, "y"), firsts, ask };
}

const numberRule: Rule = {
	trigger: numberTrigger,
	border: numberBorder,
	firsts: "0123456789+(",
	ask: numberAt,
};
/**
 * At the same position, the first rule takes precedence. Each has a separate pattern: a combined one takes twice as long.
 */
const credentials: readonly Rule[] = [
	rule("-----BEGIN ", "-", pemAt),
	rule(jwtStart, "e", jwtAt),
	rule(bearerStart, "bB", bearerAt),
	rule(keyStart, keyFirsts, keyAt),
	rule(`(?:${insensitive(fieldNames)})${afterName}`, "aAcCeEpPsStT", fieldAt),
];
const rules: Readonly<Record<Kinds, readonly Rule[]>> = {
	all: [
		...credentials,
		numberRule,
		rule(phoneLabel, "cCfFhHmMpPsStTwW", labelledAt),
		{ ...rule(emailSign, "@", emailAt), needs: "@" },
	],
	credentials,
};

/** Shorter texts contain nothing recognisable: `pwd=x` is the shortest. */
const shortest = 5;

/** Scans a complete text. */
export function scanned(text: string, kinds: Kinds): string {
	if (text.length < shortest) return text;
	const asked = rules[kinds];
	for (let which = 0; which < asked.length; which++) {
		const at = foundBy(asked[which] as Rule, text, 0);
		if (at < nowhere) return new Scanner(kinds).whole(text, which, at);
	}
	return text;
}

/** Emitted characters that are kept for rules that look back. */
const lookBack = 96;
/** Maximum number of characters held at the end of a piece, in addition to what a rule holds. */
const lookAhead = 80;

export class Scanner {
	readonly #rules: readonly Rule[];
	/** The next position of each rule in the held text. After the search: unknown; `nowhere`: none. */
	readonly #places: number[];
	#at = 0;
	readonly #asked: Asked = { questions: 0 };
	/** The last emitted text, followed by the held text. */
	#text = "";
	/** Start of the held text. */
	#held = 0;
	/** Earlier text does not belong to anything that follows. */
	#floor = 0;
	#rest: Rest | undefined;

	constructor(kinds: Kinds) {
		this.#rules = rules[kinds];
		this.#places = this.#rules.map(() => -1);
	}

	/** Adds a piece; returns the text that is final. */
	push(piece: string): string {
		if (piece === "") return "";
		this.#places.fill(-1);
		this.#text = this.#text.slice(Math.max(0, this.#held - lookBack)) + piece;
		const cut = Math.max(0, this.#held - lookBack);
		this.#held -= cut;
		this.#floor = Math.max(0, this.#floor - cut);
		return this.#advance(false);
	}

	/** Returns the held text at the end. */
	flush(): string {
		this.#places.fill(-1);
		return this.#advance(true);
	}

	/** Scans the whole text at once, given the first rule to try and its position. */
	whole(text: string, which: number, at: number): string {
		this.#text = text;
		this.#places.fill(nowhere, 0, which);
		this.#places[which] = at;
		return this.#advance(true);
	}

	#advance(isWhole: boolean): string {
		const text = this.#text;
		let out = "";
		/** Everything before this is in `out`. */
		let done = this.#held;
		let from = done;
		if (this.#rest !== undefined) done = from = this.#drop(this.#rest, done, isWhole);
		let until = isWhole || this.#rest !== undefined ? text.length : Math.max(done, this.#sure(done));
		while (this.#rest === undefined) {
			const rule = this.#next(from);
			if (rule === undefined) break;
			const at = this.#at;
			const answer = rule.ask({ text, at, floor: this.#floor, isWhole }, this.#asked);
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

	/** Returns the next rule to try; sets `#at` to its position. */
	#next(from: number): Rule | undefined {
		const text = this.#text;
		const floor = this.#floor;
		if (floor > 0 && from <= floor + 1) {
			const rule = from === floor ? this.#atBorder(floor) : undefined;
			this.#at = floor;
			if (rule !== undefined) return rule;
			this.#at = floor + 1;
			// A separator between two numbers joins them only if both are still visible.
			const isParted = floor < text.length && " ./:,-".includes(text[floor] as string);
			if (isParted && this.#atBorder(floor + 1) === numberRule) return numberRule;
		}
		let first = -1;
		let least = nowhere;
		for (let which = 0; which < this.#places.length; which++) {
			let at = this.#places[which] as number;
			if (at < from) this.#places[which] = at = foundBy(this.#rules[which] as Rule, text, from);
			if (at < least) {
				first = which;
				least = at;
			}
		}
		this.#at = least;
		return this.#rules[first];
	}

	/** Returns the first rule to try at the border of a mask. */
	#atBorder(at: number): Rule | undefined {
		const text = this.#text;
		if (at >= text.length) return undefined;
		const first = text[at] as string;
		for (const rule of this.#rules)
			if (rule.firsts.includes(first) && isAt(rule.border, text, at)) return rule;
		return undefined;
	}

	/** Drops what belongs to a masked match; returns its end. */
	#drop(rest: Rest, from: number, isWhole: boolean): number {
		const text = this.#text;
		let at = endOfRun(rest.part, text, from);
		const last = rest.last === undefined ? at : endOfRun(rest.last, text, at);
		const isOpen =
			last === at &&
			(at === text.length ||
				(rest.unsure !== undefined &&
					text.length - at < lookAhead &&
					endOfRun(rest.unsure, text, at) === text.length));
		this.#rest = isOpen && !isWhole ? rest : undefined;
		if (isOpen && isWhole && at < text.length) at = text.length;
		this.#floor = Math.max(at, last);
		return this.#floor;
	}

	/** The position up to which no later text can change the result; triggered rules are tried separately. */
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
}

/** Beyond the end of every text. */
const nowhere = 2 ** 30 - 1;

function foundBy({ trigger, needs }: Rule, text: string, from: number): number {
	const start = needs === undefined ? from : text.indexOf(needs, from);
	if (start < 0) return nowhere;
	trigger.lastIndex = start;
	return trigger.exec(text)?.index ?? nowhere;
}

/** The held text includes the whole word, because it may be an address. */
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

/** Returns a pattern whose letters match in either case. */
function insensitive(source: string): string {
	return source.replace(/(?<!\\)[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`);
}
