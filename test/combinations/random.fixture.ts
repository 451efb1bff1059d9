// A seeded source of choices.

/** Choices that a seed determines. */
export interface Random {
	/** A whole number from 0 up to, but not including, `below`. */
	below(below: number): number;
	chance(probability: number): boolean;
	pick<T>(from: readonly T[]): T;
	/** Each element with the given probability, in order. */
	some<T>(from: readonly T[], probability: number): T[];
}

/** Creates a source of choices from any text: FNV-1a for the seed, then xorshift. */
export function randomFrom(text: string): Random {
	let state = 2_166_136_261;
	for (let at = 0; at < text.length; at++) state = Math.imul(state ^ text.charCodeAt(at), 16_777_619);
	if (state === 0) state = 1;
	const next = (): number => {
		state ^= state << 13;
		state ^= state >>> 17;
		state ^= state << 5;
		return (state >>> 0) / 2 ** 32;
	};
	for (let round = 0; round < 8; round++) next();
	const random: Random = {
		below: (below) => Math.floor(next() * below),
		chance: (probability) => next() < probability,
		pick: (from) => from[random.below(from.length)] as never,
		some: (from, probability) => from.filter(() => random.chance(probability)),
	};
	return random;
}
