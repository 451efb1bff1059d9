// Digests of texts of any length, for indexes, which hold short ones only.
import { createHash } from "node:crypto";

/** Half of the SHA-256 of some texts, as a UUID: different lists of texts never have the same. */
export function digest(...texts: readonly string[]): string {
	const hash = createHash("sha256");
	for (const text of texts) hash.update(`${text.length} `).update(text);
	return hash.digest("hex").slice(0, 32);
}

/** A number of 31 bits for a digest: the key of an advisory lock. */
export function lockKey(digested: string): number {
	return Number.parseInt(digested.slice(0, 8), 16) >>> 1;
}
