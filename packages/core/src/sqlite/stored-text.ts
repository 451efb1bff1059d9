// Keys and ids in a form that databases can store. Stored text ends at NUL and must not contain lone surrogates, so such
// characters are escaped, as are the two characters used for escapes: different texts remain different.

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to escape.
const unsafe = /[\u0000-\u001f"\\\ud800-\udfff]/;

/** Converts text to its stored form. */
export function toStored(text: string): string {
	return unsafe.test(text) ? JSON.stringify(text).slice(1, -1) : text;
}

/** Restores stored text. Returns damaged text unchanged, so that lists with it can still be read. */
export function fromStored(stored: string): string {
	if (!stored.includes("\\")) return stored;
	try {
		return JSON.parse(`"${stored}"`) as string;
	} catch {
		return stored;
	}
}
