// Reciprocal rank fusion: merges several rankings. A high rank in any of them leads to a high rank in the result; scores
// are ignored, because they cannot be compared between rankings.

/** Higher values reduce the advantage of the top ranks. */
const damping = 60;

/** A ranked item, identified by a number that grows with time. */
interface Numbered {
	readonly seq: number;
}

/** Merges rankings, each best first, into one: best first, newest first among equals. */
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
