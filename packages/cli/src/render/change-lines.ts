/** Formats a file change as the lines of a unified diff. Invisible characters are spelled out. */

import { diffWordsWithSpace } from "diff";
import { spelledOut } from "../terminal/index.ts";
import { type DiffHunk, diffTexts, endsWithReturns, type PlannedChange } from "../tools/index.ts";

/** A line and its kind. */
export interface ChangeLine {
	readonly kind: "file" | "place" | "kept" | "removed" | "added" | "remark";
	readonly text: string;
	/** Ranges of `text` that differ from the line that it replaces or that replaces it. */
	readonly changed?: readonly (readonly [from: number, to: number])[];
}

/** Longer lines are not compared word by word. */
const LONGEST_COMPARED = 1_000;
/** Maximum number of differing words of two lines that are worth showing. */
const MOST_WORDS = 40;

/** Returns the lines that show a change. */
export function changeLines({ place, before, after }: PlannedChange): ChangeLine[] {
	// Carriage returns that end every line, before and after, are not worth showing.
	const hidesReturns = endsWithReturns(before ?? after) && endsWithReturns(after);
	const name = spelledOut(place.relative);
	return [
		{ kind: "file", text: `--- ${before === undefined ? "/dev/null" : name}` },
		{ kind: "file", text: `+++ ${name}` },
		...diffTexts(before ?? "", after).flatMap((hunk) => hunkLines(hunk, hidesReturns)),
	];
}

const kinds = { " ": "kept", "-": "removed", "+": "added" } as const;

function hunkLines(hunk: DiffHunk, hidesReturns: boolean): ChangeLine[] {
	const { beforeStart, beforeCount, afterStart, afterCount } = hunk;
	const head = `@@ -${beforeStart},${beforeCount} +${afterStart},${afterCount} @@`;
	return [
		{ kind: "place", text: head },
		...withWords(
			hunk.lines.flatMap(({ mark, text }): ChangeLine[] => {
				const shown = text.replace(hidesReturns ? /\r?\n$/ : /\n$/, "");
				const line: ChangeLine = { kind: kinds[mark], text: `${mark}${spelledOut(shown)}` };
				return text.endsWith("\n")
					? [line]
					: [line, { kind: "remark", text: "\\ No newline at end of file" }];
			}),
		),
	];
}

/** Marks the words in which the removed lines differ from the added lines after them, one by one. */
function withWords(lines: readonly ChangeLine[]): ChangeLine[] {
	const marked = [...lines];
	for (let at = 0; at < lines.length; ) {
		const removed = runOf(lines, at, "removed");
		const added = runOf(lines, at + removed, "added");
		for (let pair = 0; pair < Math.min(removed, added); pair++) {
			const [before, after] = [at + pair, at + removed + pair];
			const words = wordsOf(lines[before]?.text ?? "", lines[after]?.text ?? "");
			if (words === undefined) continue;
			marked[before] = { ...(lines[before] as ChangeLine), changed: words.before };
			marked[after] = { ...(lines[after] as ChangeLine), changed: words.after };
		}
		at += Math.max(1, removed + added);
	}
	return marked;
}

function runOf(lines: readonly ChangeLine[], from: number, kind: ChangeLine["kind"]): number {
	let to = from;
	while (lines[to]?.kind === kind) to++;
	return to - from;
}

type Ranges = readonly (readonly [number, number])[];

/** Undefined if the lines have too little in common. */
function wordsOf(
	before: string,
	after: string,
): { readonly before: Ranges; readonly after: Ranges } | undefined {
	if (Math.max(before.length, after.length) > LONGEST_COMPARED) return undefined;
	const parts = diffWordsWithSpace(before.slice(1), after.slice(1), { maxEditLength: MOST_WORDS });
	if (parts === undefined) return undefined;
	const kept = parts.reduce(
		(sum, { added, removed, value }) => (added || removed ? sum : sum + value.trim().length),
		0,
	);
	if (2 * kept < Math.min(before.length, after.length) - 1) return undefined;
	const ranges = { removed: [] as [number, number][], added: [] as [number, number][] };
	// The mark comes first.
	const at = { removed: 1, added: 1 };
	for (const { added, removed, value } of parts) {
		if (removed) ranges.removed.push([at.removed, at.removed + value.length]);
		if (added) ranges.added.push([at.added, at.added + value.length]);
		if (!added) at.removed += value.length;
		if (!removed) at.added += value.length;
	}
	return { before: ranges.removed, after: ranges.added };
}
