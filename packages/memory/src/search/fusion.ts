// Reciprocal rank fusion: merges several rankings. A high rank in any of them leads to a high rank in the result; scores
// are ignored, because they cannot be compared between rankings.

/** How much being first weighs over being second. */
const damping = 60;

/** A ranked item, identified by a number that grows with time. */
interface Numbered {
	readonly seq: number;
}

/** Rankings, best first each, as one: best first, newest first among equals. */
export function fused<Item extends Numbered>(
	rankings: readonly (readonly Item[])[],
): readonly { readonly item: Item; readonly score: number }[] {
	const scores = new Map<number, { item: Item; score: number }>();
	for (const ranking of rankings)
		ranking.forEach((item, at) => {
			const known = scores.get(item.seq);
			const score = (known?.score ?? 0) + 1 / (damping + at + 1);
			scores.set(item.seq, { item, score });
		});
	return [...scores.values()].sort((one, other) => other.score - one.score || other.item.seq - one.item.seq);
}
