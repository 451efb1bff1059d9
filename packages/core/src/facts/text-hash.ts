// A short hash of a long text, to detect changes. It offers no protection against deliberate collisions.

/** The hash of a text that may continue. */
export interface HashState {
	readonly high: number;
	readonly low: number;
}

/** The hash of an empty text. */
export const emptyHash: HashState = { high: 0xdeadbeef, low: 0x41c6ce57 };

/** Returns the state after a further part of a text. */
export function continuedHash(state: HashState, text: string): HashState {
	let { high, low } = state;
	for (let at = 0; at < text.length; at++) {
		const unit = text.charCodeAt(at);
		high = Math.imul(high ^ unit, 2654435761);
		low = Math.imul(low ^ unit, 1597334677);
	}
	return { high, low };
}

/** Returns the hash of the text of a state: 53 bits, in hexadecimal. */
export function hashOfState(state: HashState): string {
	let { high, low } = state;
	high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
	low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
	return (4294967296 * (2097151 & low) + (high >>> 0)).toString(16);
}

/** Returns a 53-bit hash of a text, in hexadecimal. */
export function textHash(text: string): string {
	return hashOfState(continuedHash(emptyHash, text));
}
