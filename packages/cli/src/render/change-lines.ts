/** Formats a file change as the lines of a unified diff. Invisible characters are spelled out. */

import { spelledOut } from "../terminal/index.ts";
import { type DiffHunk, diffTexts, endsWithReturns, type PlannedChange } from "../tools/index.ts";

/** A line and its kind. */
export interface ChangeLine {
	readonly kind: "file" | "place" | "kept" | "removed" | "added" | "remark";
	readonly text: string;
}

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
		...hunk.lines.flatMap(({ mark, text }): ChangeLine[] => {
			const shown = text.replace(hidesReturns ? /\r?\n$/ : /\n$/, "");
			const line: ChangeLine = { kind: kinds[mark], text: `${mark}${spelledOut(shown)}` };
			return text.endsWith("\n") ? [line] : [line, { kind: "remark", text: "\\ No newline at end of file" }];
		}),
	];
}
