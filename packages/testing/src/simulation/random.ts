// Reproducible random numbers: the same seed produces the same numbers on every machine.

/** A sequence of draws. */
export interface Random {
	/** Returns an integer from 0 up to, but not including, `limit`. */
	below(limit: number): number;
	/** Returns true with this probability, from 0 to 1. */
	chance(likelihood: number): boolean;
	pick<T>(from: readonly T[]): T;
	uuid(): string;
}

/** Creates the draws of a seed. */
export function seededRandom(seed: number | string): Random {
	let state = typeof seed === "string" ? hashOf(seed) : seed | 0;
	const next = (): number => {
		state = (state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return (mixed ^ (mixed >>> 14)) >>> 0;
	};
	const below = (limit: number): number => next() % limit;
	return {
		below,
		chance: (likelihood) => next() < likelihood * 2 ** 32,
		pick: (from) => from[below(from.length)] as (typeof from)[number],
		uuid() {
			const digits = [next(), next(), next(), next()]
				.map((part) => part.toString(16).padStart(8, "0"))
				.join("");
			return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(13, 16)}-8${digits.slice(17, 20)}-${digits.slice(20)}`;
		},
	};
}

/** Hashes a text with FNV-1a. */
function hashOf(text: string): number {
	let hash = 0x811c9dc5;
	for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
	return hash >>> 0;
}
