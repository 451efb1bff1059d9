// Keys in their stored form: any text, such that different keys stay different and every database accepts them.
import { HoldfastError } from "@holdfast/upp";

/** Bytes of a stored key at most: what an index of every database takes. */
const longest = 1024;

/**
 * A key as well-formed text without control characters: they are escaped as JSON does, and so are lone halves of
 * characters, which UTF-8 would make the same.
 * @throws HoldfastError `KEY_INVALID` where it is no text, or too long.
 */
export function storedName(name: string): string {
	if (typeof name !== "string")
		throw new HoldfastError(
			"KEY_INVALID",
			`A key is a string, not ${name === null ? "null" : `a ${typeof name}`}.`,
		);
	const stored = name.length > longest ? undefined : JSON.stringify(name).slice(1, -1);
	if (stored === undefined || Buffer.byteLength(stored) > longest)
		throw new HoldfastError(
			"KEY_INVALID",
			`A key has ${longest} bytes at most. Use a shorter one, such as a hash.`,
		);
	return stored;
}

/** The key that was stored. */
export function givenName(stored: string): string {
	return JSON.parse(`"${stored}"`);
}
