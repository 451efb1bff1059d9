// Keys in their stored form: different keys stay different, and every database accepts them.
import { cutText, HoldfastError } from "@holdfast/upp";
import { damaged } from "../storage/index.ts";

/** Maximum bytes of a stored key, which every database can index. */
const longest = 1024;

/**
 * Converts a key to well-formed text without control characters. They are escaped as in JSON, and so are lone surrogates,
 * which UTF-8 would not distinguish.
 * @throws HoldfastError `KEY_INVALID` if it is not a string, or too long.
 */
export function storedName(name: string): string {
	if (typeof name !== "string")
		throw new HoldfastError(
			"KEY_INVALID",
			`A key must be a string, not ${name === null ? "null" : `a ${typeof name}`}.`,
		);
	const stored = name.length > longest ? undefined : JSON.stringify(name).slice(1, -1);
	if (stored === undefined || Buffer.byteLength(stored) > longest)
		throw new HoldfastError(
			"KEY_INVALID",
			`A key can have at most ${longest} bytes. Use a shorter one, such as a hash.`,
		);
	return stored;
}

/**
 * Returns the original of a stored key.
 * @throws HoldfastError `RECORD_DAMAGED` for a text that `storedName` cannot return.
 */
export function givenName(stored: string): string {
	try {
		return JSON.parse(`"${stored}"`);
	} catch (cause) {
		throw damaged(`the key ${JSON.stringify(cutText(stored, 200))}`, cause);
	}
}
