/**
 * What differs between two texts, line by line: the shortest script of removed and added lines (Myers' greedy search), cut
 * into pieces with some lines around them. Pure. Texts that differ in very many lines are shown as replaced where they
 * differ, so that time and memory stay bounded.
 */

/** A line with its end, as it is in the text; only the last one of a text may lack it. */
export interface DiffLine {
	readonly mark: " " | "-" | "+";
	readonly text: string;
}

/** A piece of the difference: where it begins in both texts, from 1, or 0 where that side is empty. */
export interface DiffHunk {
	readonly beforeStart: number;
	readonly beforeCount: number;
	readonly afterStart: number;
	readonly afterCount: number;
	readonly lines: readonly DiffLine[];
}

/** Lines shown around a change. */
const CONTEXT = 3;
/** Removed and added lines that are looked for one by one; memory grows with the square. */
const MOST_EDITS = 1_500;

/** The pieces in which two texts differ; none when they are the same. */
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
	const script = shortestScript(before, after);
	if (script === undefined) return [...marked("-", before), ...marked("+", after)];
	let left = 0;
	let right = 0;
	return script.map((mark) => {
		const text = (mark === "+" ? after[right] : before[left]) as string;
		if (mark !== "+") left++;
		if (mark !== "-") right++;
		return { mark, text };
	});
}

/** The marks of the shortest way from one list to the other; undefined when it is longer than the limit. */
function shortestScript(before: readonly string[], after: readonly string[]): DiffLine["mark"][] | undefined {
	const most = Math.min(before.length + after.length, MOST_EDITS);
	// On diagonal k, how far into `before` one gets with so many edits; at [most + k], for k may be below 0.
	const reach = new Int32Array(2 * most + 3);
	const middleOf = most + 1;
	const earlier: Int32Array[] = [];
	for (let edits = 0; edits <= most; edits++) {
		earlier.push(reach.slice(middleOf - edits - 1, middleOf + edits + 2));
		for (let k = -edits; k <= edits; k += 2) {
			const comesDown = isDown(k, edits, (diagonal) => reach[middleOf + diagonal] as number);
			let x = comesDown ? (reach[middleOf + k + 1] as number) : (reach[middleOf + k - 1] as number) + 1;
			while (x < before.length && x - k < after.length && before[x] === after[x - k]) x++;
			reach[middleOf + k] = x;
			if (x >= before.length && x - k >= after.length) return wayBack(before.length, after.length, earlier);
		}
	}
	return undefined;
}

/** Whether the best way to diagonal k takes a line in (from k + 1), rather than one out (from k - 1). */
function isDown(k: number, edits: number, reachOf: (diagonal: number) => number): boolean {
	return k === -edits || (k !== edits && reachOf(k - 1) < reachOf(k + 1));
}

function wayBack(left: number, right: number, earlier: readonly Int32Array[]): DiffLine["mark"][] {
	const marks: DiffLine["mark"][] = [];
	let x = left;
	let y = right;
	for (let edits = earlier.length - 1; edits > 0; edits--) {
		const reach = earlier[edits] as Int32Array;
		const reachOf = (diagonal: number): number => reach[diagonal + edits + 1] as number;
		const k = x - y;
		const comesDown = isDown(k, edits, reachOf);
		const from = comesDown ? k + 1 : k - 1;
		const fromX = reachOf(from);
		for (const start = comesDown ? fromX : fromX + 1; x > start; x--, y--) marks.push(" ");
		marks.push(comesDown ? "+" : "-");
		x = fromX;
		y = fromX - from;
	}
	for (; x > 0; x--) marks.push(" ");
	return marks.reverse();
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
			(edits[last + 1] as number) - (edits[last] as number) <= 2 * CONTEXT + 1
		)
			last++;
		pass(Math.max(0, (edits[first] as number) - CONTEXT));
		const until = Math.min(lines.length, (edits[last] as number) + CONTEXT + 1);
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
