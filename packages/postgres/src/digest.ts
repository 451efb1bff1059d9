// Digests of texts of any length, because indexes only hold short ones.
import { createHash } from "node:crypto";

/** Returns half of the SHA-256 of some texts, as a UUID: different lists of texts never collide. */
export function digest(...texts: readonly string[]): string {
	const hash = createHash("sha256");
	for (const text of texts) hash.update(`${text.length} `).update(text);
	return hash.digest("hex").slice(0, 32);
}

/** Converts a digest to 31 bits: the key of an advisory lock. */
export function lockKey(digested: string): number {
	return Number.parseInt(digested.slice(0, 8), 16) >>> 1;
}
