/** The words of the thing that a question wants listed, and how titles and texts are held against them. */
import type { Question, Term } from "../question.ts";
import { isLooseModifier, isStopWord, isWeakWord, stem, stemsOf, synonymsOf, wordsOf } from "../words.ts";

/** The words of the thing to list. */
export interface Focus {
	readonly words: readonly string[];
	/** Stems that must be there, the loose modifiers left out. */
	readonly needed: readonly string[];
	readonly loose: readonly string[];
	/** The stems that tell this kind of thing from others: of "red lamps", "red". */
	readonly telling: readonly string[];
	/** The other telling terms of the question. */
	readonly rest: readonly Term[];
}

/** Reads the focus of a question, if it has one. */
export function readFocus(question: Question): Focus | undefined {
	const words = question.focus.flatMap(wordsOf);
	const needed = [...new Set(words.filter((word) => !isLooseModifier(word)).map(stem))];
	if (needed.length === 0) return undefined;
	const all = new Set(words.map(stem));
	const rest = question.terms.filter((term) => !term.weak && !term.stems.every((one) => all.has(one)));
	return {
		words,
		needed,
		loose: words.filter(isLooseModifier).map(stem),
		telling: needed.length > 1 ? needed.slice(0, -1) : needed,
		rest,
	};
}

/** Is this stem there, or one of the same meaning? */
export function has(stems: ReadonlySet<string>, one: string): boolean {
	if (stems.has(one)) return true;
	for (const synonym of synonymsOf(one)) if (stems.has(synonym)) return true;
	return false;
}

/** How well a title names the focus: 0 not at all, 1 with exactly its words. */
export function titleMatch(title: string, focus: Focus): number {
	const stems = stemsOf(
		title
			.split(/\s+/)
			.filter((word) => !isStopWord(word))
			.join(" "),
	);
	if (stems.size === 0) return 0;
	if (/\bnon?[- ]/i.test(title) || /^no\b/i.test(title)) return 0;
	const known = [...stems].filter((one) =>
		[...focus.needed, ...focus.loose].some((wanted) => wanted === one || synonymsOf(wanted).has(one)),
	);
	if (focus.needed.every((one) => has(stems, one))) return 0.65 + 0.35 * (known.length / stems.size);
	// Asked for red lamps, "### Red" lists them and "### Lamps" does not.
	return known.length === stems.size &&
		focus.telling.every((one) => has(stems, one)) &&
		!focus.telling.every(isWeakWord)
		? 0.7
		: 0;
}

/** Do these stems stand next to each other somewhere in the text, and not after a "no"? */
export function sideBySide(text: string, needed: readonly string[], spare: number): boolean {
	const stems = wordsOf(text).map(stem);
	return stems.some((_one, at) => {
		const window = new Set(stems.slice(at, at + needed.length + spare));
		return needed.every((one) => window.has(one)) && !/^(?:no|non|not|without)$/.test(stems[at - 1] ?? "");
	});
}

/** Do the words of the thing asked for stand together in the text? */
export function phraseIn(text: string, focus: readonly string[]): boolean {
	const needed = focus
		.flatMap(wordsOf)
		.filter((word) => !isLooseModifier(word))
		.map(stem);
	return needed.length < 2 || sideBySide(text, needed, 1);
}
