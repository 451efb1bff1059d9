/**
 * The line difference between two texts: the fewest removed and added lines, split into hunks with context. Pure. Texts
 * that differ in very many lines are shown as replaced, so that the time stays bounded.
 */
import { diffArrays } from "diff";

/** A line with its original line ending; only the last line of a text may lack one. */
export interface DiffLine {
	readonly mark: " " | "-" | "+";
	readonly text: string;
}

/** A hunk of the difference: where it starts in both texts, from 1, or 0 if that side is empty. */
export interface DiffHunk {
	readonly beforeStart: number;
	readonly beforeCount: number;
	readonly afterStart: number;
	readonly afterCount: number;
	readonly lines: readonly DiffLine[];
}

/** Lines shown around a change. */
const context = 3;
/** Maximum number of removed and added lines found individually; the time grows with the square. */
const mostEdits = 1_500;

/** Returns the hunks in which two texts differ; none if they are the same. */
export function diffTexts(before: string, after: string): DiffHunk[] {
	return hunksOf(diffLines(linesOf(before), linesOf(after)));
}

function linesOf(text: string): string[] {
	return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function diffLines(before: readonly string[], after: readonly string[]): DiffLine[] {
	let start = 0;
	while (start < before.length && start < after.length && before[start] === after[start]) start++;
	let end = 0;
	while (
		end < before.length - start &&
		end < after.length - start &&
		before[before.length - 1 - end] === after[after.length - 1 - end]
	)
		end++;
	return [
		...marked(" ", before.slice(0, start)),
		...middle(before.slice(start, before.length - end), after.slice(start, after.length - end)),
		...marked(" ", before.slice(before.length - end)),
	];
}

function marked(mark: DiffLine["mark"], lines: readonly string[]): DiffLine[] {
	return lines.map((text) => ({ mark, text }));
}

function middle(before: readonly string[], after: readonly string[]): DiffLine[] {
	const changes = diffArrays([...before], [...after], { maxEditLength: mostEdits });
	if (changes === undefined) return [...marked("-", before), ...marked("+", after)];
	return changes.flatMap(({ added, removed, value }) => marked(added ? "+" : removed ? "-" : " ", value));
}

function hunksOf(lines: readonly DiffLine[]): DiffHunk[] {
	const hunks: DiffHunk[] = [];
	const edits = [...lines.keys()].filter((index) => lines[index]?.mark !== " ");
	let before = 0;
	let after = 0;
	let at = 0;
	const pass = (until: number): void => {
		for (; at < until; at++) {
			if (lines[at]?.mark !== "+") before++;
			if (lines[at]?.mark !== "-") after++;
		}
	};
	for (let first = 0; first < edits.length; ) {
		let last = first;
		while (
			last + 1 < edits.length &&
			(edits[last + 1] as number) - (edits[last] as number) <= 2 * context + 1
		)
			last++;
		pass(Math.max(0, (edits[first] as number) - context));
		const until = Math.min(lines.length, (edits[last] as number) + context + 1);
		const begun = { at, before, after };
		pass(until);
		const beforeCount = before - begun.before;
		const afterCount = after - begun.after;
		hunks.push({
			beforeStart: begun.before + (beforeCount === 0 ? 0 : 1),
			beforeCount,
			afterStart: begun.after + (afterCount === 0 ? 0 : 1),
			afterCount,
			lines: lines.slice(begun.at, until),
		});
		first = last + 1;
	}
	return hunks;
}
