// Keys and ids in a form that databases can store. Stored text ends at NUL and must not contain lone surrogates, so such
// characters are escaped, as are the two characters used for escapes: different texts remain different.

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to escape.
const unsafe = /[\u0000-\u001f"\\\ud800-\udfff]/;

/** Converts text to its stored form. */
export function toStored(text: string): string {
	return unsafe.test(text) ? JSON.stringify(text).slice(1, -1) : text;
}

/** Restores stored text. */
export function fromStored(stored: string): string {
	return stored.includes("\\") ? (JSON.parse(`"${stored}"`) as string) : stored;
}
