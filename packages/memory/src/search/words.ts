// Splits a text into the words to index and search, identically for every database. Words are letters, digits and marks
// in lower case without accents; in scripts without spaces each character is a word.
import { cutText } from "@holdfast/upp";

const word =
	/[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]|[[\p{L}\p{N}\p{M}]--[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]]+/gv;

/** Significant characters of a word. */
const longestWord = 64;
/** Indexed characters of the words of one value; words beyond are not found. */
const longestText = 262_144;
/** Maximum number of distinct words of a query that count. */
const mostWords = 128;

/** Returns the words of a text in order. The cost is linear in the text's length, up to a limit. */
export function wordsOf(text: string): readonly string[] {
	const plain = text
		.slice(0, longestText)
		.normalize("NFKD")
		.replaceAll(/[\u0300-\u036f]/g, "")
		.toLowerCase();
	const words = cutText(plain, longestText).match(word) ?? [];
	return words.map((each) => (each.length > longestWord ? cutText(each, longestWord) : each));
}

/** Returns the distinct words of a query. */
export function queryWords(text: string): readonly string[] {
	return [...new Set(wordsOf(text))].slice(0, mostWords);
}

/** Returns the texts and numbers of a value for search, without the names of members. */
export function textOf(value: unknown): string {
	const texts: string[] = [];
	let length = 0;
	const visit = (each: unknown): void => {
		if (length > longestText) return;
		if (typeof each === "string" || typeof each === "number") {
			const text = String(each);
			texts.push(text);
			length += text.length + 1;
		} else if (typeof each === "object" && each !== null) {
			for (const member of Object.values(each)) visit(member);
		}
	};
	visit(value);
	return texts.join(" ");
}
