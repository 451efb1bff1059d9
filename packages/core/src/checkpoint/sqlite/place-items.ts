// Determines the rows of a list: existing rows with the same item are reused, new or changed items get their own row, and
// unreferenced rows are deleted.

/** The rows of a list: parallel arrays of numbers and content digests. */
export interface StoredItems {
	readonly numbers: readonly number[];
	readonly digests: readonly string[];
}

/** The rows assigned to the items of a list. */
export interface Placement {
	/** The rows of the list, in its order. */
	readonly stored: StoredItems;
	/** Positions in the list of the items that need a row. */
	readonly added: readonly number[];
	/** Numbers of rows that no item of the list uses, ascending. */
	readonly dropped: readonly number[];
}

export const noItems: StoredItems = { numbers: [], digests: [] };

/** Finds rows for the items with these digests. Rows are reused in order, so that appended items stay one range. */
export function placeItems(before: StoredItems, digests: readonly string[]): Placement {
	const numbers: number[] = [];
	const added: number[] = [];
	while (numbers.length < digests.length && before.digests[numbers.length] === digests[numbers.length]) {
		const number = before.numbers[numbers.length];
		if (number === undefined) break;
		numbers.push(number);
	}
	const left = new Map<string, number[]>();
	// Iterates backwards, so that equal items are taken in order from the end of their list.
	for (let at = before.numbers.length - 1; at >= numbers.length; at--) {
		const digest = before.digests[at] as string;
		const same = left.get(digest);
		if (same === undefined) left.set(digest, [before.numbers[at] as number]);
		else same.push(before.numbers[at] as number);
	}
	// Two equal items get two rows: using one row twice would break the range.
	let highest = before.numbers.reduce((most, number) => Math.max(most, number), 0);
	for (let at = numbers.length; at < digests.length; at++) {
		const found = left.get(digests[at] as string)?.pop();
		if (found === undefined) added.push(at);
		numbers.push(found ?? ++highest);
	}
	const dropped = [...left.values()].flat().sort((a, b) => a - b);
	return { stored: { numbers, digests }, added, dropped };
}
