// Words in the syntax of Postgres's full-text search, which bypass its parser.

/** Maximum bytes of the words of one text. Postgres allows a megabyte, including its overhead. */
const mostBytes = 500_000;
const mostPlaces = 255;
const lastPlace = 16_383;

/** Formats words with their positions as a `tsvector`. Words contain neither quotes nor backslashes. */
export function vectorText(words: readonly string[]): string {
	const places = new Map<string, number[]>();
	let bytes = 0;
	for (const [at, word] of words.entries()) {
		const known = places.get(word);
		bytes += known === undefined ? Buffer.byteLength(word) + 8 : 2;
		if (bytes > mostBytes) break;
		if (known === undefined) places.set(word, [Math.min(at + 1, lastPlace)]);
		else if (known.length < mostPlaces) known.push(Math.min(at + 1, lastPlace));
	}
	return [...places].map(([word, at]) => `'${word}':${at.join(",")}`).join(" ");
}

/** Formats a `tsquery` that matches any of the words. */
export function queryText(words: readonly string[]): string {
	return words.map((word) => `'${word}'`).join(" | ");
}
