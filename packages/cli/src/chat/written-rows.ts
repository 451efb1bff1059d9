/** The rows of a draft around its cursor. A draft may be a paste of any size, and may not have any line end. */
import stringWidth from "string-width";
import { pictured } from "../terminal/index.ts";

/** The visible part of a draft. */
export interface WrittenRows {
	readonly rows: readonly string[];
	/** Whether the first row begins the draft. */
	readonly isFromStart: boolean;
	/** How much of the draft is above the rows; empty if they are its beginning. */
	readonly above: string;
}

const characters = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const CURSOR = ["\u001b[7m", "\u001b[27m"] as const;

/** Returns at most `most` rows of at most `width` columns. The cursor is a character in inverse colours. */
export function writtenRows(text: string, cursor: number, width: number, most: number): WrittenRows {
	const columns = Math.max(1, width);
	const from = startOf(text, cursor, columns, most);
	const piece = pictured(text.slice(from, cursor + most * columns).toWellFormed());
	const rows: { at: number; text: string }[] = [];
	let row = { at: from, text: "" };
	let used = 0;
	let cursorRow = 0;
	const next = (at: number): void => {
		rows.push(row);
		row = { at, text: "" };
		used = 0;
	};
	const put = (shown: string, at: number, isUnder: boolean): void => {
		const wide = stringWidth(shown);
		if (used > 0 && used + wide > columns) next(at);
		used += wide;
		row.text += isUnder ? CURSOR[0] + shown + CURSOR[1] : shown;
		if (isUnder) cursorRow = rows.length;
	};
	for (const { segment, index } of characters.segment(piece)) {
		const at = from + index;
		const isUnder = at <= cursor && cursor < at + segment.length;
		if (segment !== "\n") put(segment === "\t" ? " " : segment, at, isUnder);
		else {
			if (isUnder) put(" ", at, true);
			next(at + 1);
		}
	}
	if (cursor === text.length) put(" ", cursor, true);
	rows.push(row);
	const first = Math.max(0, Math.min(cursorRow - most + 2, rows.length - most));
	const visible = rows.slice(first, first + most);
	const { at } = visible[0] ?? row;
	const lines = at === 0 ? 0 : text.slice(0, at).split("\n").length - 1;
	return {
		rows: visible.map((each) => each.text),
		isFromStart: at === 0,
		above: at === 0 ? "" : lines === 0 ? "… more above" : `… ${lines} lines above`,
	};
}

/** Returns where the rows that may be visible begin: at the start of a line, or within a long one, of a row. */
function startOf(text: string, cursor: number, columns: number, most: number): number {
	const reach = most * columns;
	const near = Math.max(0, cursor - reach);
	const line = near === 0 ? 0 : text.lastIndexOf("\n", near - 1) + 1;
	const from = near - line < reach ? line : line + Math.floor((near - line) / columns) * columns;
	// Never between the halves of a character.
	return /[\udc00-\udfff]/.test(text[from] ?? "") && from > 0 ? from - 1 : from;
}
