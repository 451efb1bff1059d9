// Finds the existing name that an unknown name probably refers to.

/** A longer name is unlikely to be a typo, and the time to compare two names grows with the square of their length. */
const longestName = 100;
const mostCandidates = 2_000;

/**
 * Returns the candidate closest to a name, if at most `most` letters differ. Case is ignored, and two transposed letters
 * count as one.
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

// Levenshtein distance with transpositions, one row at a time.
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
