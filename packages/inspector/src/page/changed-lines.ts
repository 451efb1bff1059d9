// The difference between two texts by lines or words: a longest common subsequence of the part between their equal ends.

/** A line or a word, and the texts that contain it. */
export interface ChangedLine {
	readonly kind: "same" | "added" | "removed";
	readonly line: string;
}

/** Limit for the product of both line counts; beyond it, the whole middle part counts as changed (keeps I7). */
const mostCells = 1_000_000;

export function changedLines(before: string, after: string): readonly ChangedLine[] {
	return changedParts(before.split("\n"), after.split("\n"));
}

/** The difference between two texts by words: spaces belong to the word before them. Joined, the parts are the texts. */
export function changedWords(before: string, after: string): readonly ChangedLine[] {
	const words = (text: string): readonly string[] => text.match(/\s+|\S+\s*/g) ?? [];
	return changedParts(words(before), words(after));
}

function changedParts(left: readonly string[], right: readonly string[]): readonly ChangedLine[] {
	let start = 0;
	while (start < left.length && start < right.length && left[start] === right[start]) start++;
	let end = 0;
	while (
		end < left.length - start &&
		end < right.length - start &&
		left[left.length - 1 - end] === right[right.length - 1 - end]
	)
		end++;
	const same = (line: string): ChangedLine => ({ kind: "same", line });
	return [
		...left.slice(0, start).map(same),
		...between(left.slice(start, left.length - end), right.slice(start, right.length - end)),
		...left.slice(left.length - end).map(same),
	];
}

function between(left: readonly string[], right: readonly string[]): readonly ChangedLine[] {
	const removed = (line: string): ChangedLine => ({ kind: "removed", line });
	const added = (line: string): ChangedLine => ({ kind: "added", line });
	const wide = right.length + 1;
	if ((left.length + 1) * wide > mostCells) return [...left.map(removed), ...right.map(added)];
	const lengths = new Uint32Array((left.length + 1) * wide);
	const at = (row: number, column: number): number => lengths[row * wide + column] ?? 0;
	for (let row = left.length - 1; row >= 0; row--)
		for (let column = right.length - 1; column >= 0; column--)
			lengths[row * wide + column] =
				left[row] === right[column]
					? at(row + 1, column + 1) + 1
					: Math.max(at(row + 1, column), at(row, column + 1));
	const lines: ChangedLine[] = [];
	let row = 0;
	let column = 0;
	while (row < left.length && column < right.length) {
		if (left[row] === right[column]) {
			lines.push({ kind: "same", line: left[row] as string });
			row++;
			column++;
		} else if (at(row + 1, column) >= at(row, column + 1)) lines.push(removed(left[row++] as string));
		else lines.push(added(right[column++] as string));
	}
	return [...lines, ...left.slice(row).map(removed), ...right.slice(column).map(added)];
}
