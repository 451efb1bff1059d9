/** Wraps text between words for a terminal, with hanging indents. */
import stringWidth from "string-width";
import wrapAnsi from "wrap-ansi";
import { oneLine } from "./format.ts";

/** Wraps each line to the given width. List items and indented text get a hanging indent. */
export function wrapped(text: string, columns: number): string {
	return text
		.split("\n")
		.map((line) => wrappedLine(line, columns, /^ *(?:[•-] |\d+\. )? */.exec(line)?.[0].length ?? 0))
		.join("\n");
}

/** Wraps one line, indenting all rows after the first by `hang` columns. A word that fits no row gets its own. */
export function wrappedLine(line: string, columns: number, hang: number): string {
	if (stringWidth(line) <= columns) return line;
	const rows = wrapAnsi(line.slice(hang), Math.max(1, columns - hang));
	return line.slice(0, hang) + rows.replaceAll("\n", `\n${" ".repeat(hang)}`);
}

const characters = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** Puts text on one line, without control codes, cut to the columns it takes: wide characters take two. */
export function fitted(text: string, columns: number): string {
	// More characters than columns never fit.
	const line = oneLine(text.slice(0, 4 * columns + 100), 2 * columns + 50);
	if (stringWidth(line) <= columns) return line;
	let width = 0;
	let end = 0;
	for (const { segment, index } of characters.segment(line)) {
		width += stringWidth(segment);
		if (width > columns - 1) break;
		end = index + segment.length;
	}
	return columns < 1 ? "" : `${line.slice(0, end)}…`;
}
