// Finds the existing name that an unknown name probably refers to.

/** A longer name is not mistyped, and comparing two takes time that grows with the square of their length. */
const longestName = 100;
const mostCandidates = 2_000;

/**
 * The candidate closest to a name, when it is close enough to be meant: `most` letters differ. Case does not count, and two
 * letters in the wrong order count as one.
 */
export function nearest(
	name: string,
	candidates: Iterable<string>,
	most: number = Math.max(1, Math.floor(name.length / 3)),
): string | undefined {
	if (name.length > longestName) return undefined;
	let best: string | undefined;
	let bestDistance = most + 1;
	const wanted = name.toLowerCase();
	let compared = 0;
	for (const candidate of candidates) {
		if (++compared > mostCandidates) break;
		if (Math.abs(candidate.length - name.length) >= bestDistance) continue;
		const distance = editDistance(wanted, candidate.toLowerCase());
		if (distance < bestDistance) {
			best = candidate;
			bestDistance = distance;
		}
	}
	return best;
}

// Levenshtein's distance with swapped neighbours, one row at a time.
function editDistance(left: string, right: string): number {
	let before: number[] = [];
	let row = Array.from({ length: right.length + 1 }, (_, index) => index);
	for (let i = 1; i <= left.length; i++) {
		const next = [i];
		for (let j = 1; j <= right.length; j++) {
			const replaced = (row[j - 1] as number) + (left[i - 1] === right[j - 1] ? 0 : 1);
			let least = Math.min(replaced, (row[j] as number) + 1, (next[j - 1] as number) + 1);
			const isSwapped = i > 1 && j > 1 && left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1];
			if (isSwapped) least = Math.min(least, (before[j - 2] as number) + 1);
			next.push(least);
		}
		before = row;
		row = next;
	}
	return row[right.length] as number;
}
