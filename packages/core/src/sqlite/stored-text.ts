// Keys and ids as databases can hold them. Their text ends at NUL and knows no lone surrogates, so such characters
// are escaped, and with them the two characters that escapes are made of: different texts stay different.

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to escape.
const unsafe = /[\u0000-\u001f"\\\ud800-\udfff]/;

/** Text in its stored form. */
export function toStored(text: string): string {
	return unsafe.test(text) ? JSON.stringify(text).slice(1, -1) : text;
}

/** The original form of stored text. */
export function fromStored(stored: string): string {
	return stored.includes("\\") ? (JSON.parse(`"${stored}"`) as string) : stored;
}
