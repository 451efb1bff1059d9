/** Paints texts in a theme. Without colours, plain characters convey everything. */
import type { ChangeLine } from "../render/index.ts";
import { languageOf, type Piece, piecesOfLine } from "./highlight.ts";
import { type Look, type StyleName, type ThemeName, themes } from "./theme.ts";

/** Applies a style to a text. */
export type Paint = (style: StyleName, text: string) => string;

const attributes = {
	bold: [1, 22],
	dim: [2, 22],
	italic: [3, 23],
	underline: [4, 24],
	inverse: [7, 27],
	strikethrough: [9, 29],
} as const;

/** How many bits of colour a terminal shows. With 4, its user defines the colours; with 1, there are none. */
export type ColourDepth = 1 | 4 | 8 | 24;

/** Creates the painter of a theme. */
export function makePaint(theme: ThemeName, depth: ColourDepth = 24): Paint {
	if (theme === "none" || depth === 1) return (_, text) => text;
	const looks = themes[depth === 4 && theme !== "contrast" ? "basic" : theme];
	return (style, text) => (text === "" ? "" : dressed(text, looks[style], depth));
}

function dressed(text: string, look: Look, depth: ColourDepth): string {
	let before = "";
	let after = "";
	const add = (start: string, end: string | number): void => {
		before += `\u001b[${start}m`;
		after = `\u001b[${end}m${after}`;
	};
	for (const name of look.attributes ?? []) add(`${attributes[name][0]}`, attributes[name][1]);
	if (look.colour !== undefined) add(look.colour < 8 ? `3${look.colour}` : `38;5;${look.colour}`, 39);
	if (look.tint !== undefined && depth === 24) {
		const [red, green, blue] = [0, 2, 4].map((at) => Number.parseInt(look.tint?.slice(at, at + 2) ?? "", 16));
		add(`48;2;${red};${green};${blue}`, 49);
	} else if (look.stands !== undefined) add("7", 27);
	return before + text + after;
}

/** Formats a line of code, indented. */
export function codeText(paint: Paint, pieces: readonly Piece[]): string {
	return `  ${paintPieces(paint, pieces).replaceAll("\t", "    ")}`;
}

function paintPieces(paint: Paint, pieces: readonly Piece[]): string {
	return pieces.map(({ text, style }) => (style === undefined ? text : paint(style, text))).join("");
}

/** Code of an unknown language has the colour of other text in a change. */
function piecesOfChange(line: string, language: string | undefined): readonly Piece[] {
	return piecesOfLine(line, language).map((piece) =>
		piece.style === "code" ? { ...piece, style: undefined } : piece,
	);
}

const marks = { kept: undefined, removed: "bad", added: "good" } as const;
const tints = {
	removed: { line: "removed-line", word: "removed-word" },
	added: { line: "added-line", word: "added-word" },
} as const;

/** Paints the lines of a change; words that differ from the other version stand out. */
export function paintChange(paint: Paint, lines: readonly ChangeLine[]): string {
	const file = lines.find(isNewName);
	const language = file === undefined ? undefined : languageOf(file.text);
	return lines
		.flatMap((line, index): readonly string[] => {
			if (line.kind === "file") return isNewName(line) ? [headOf(paint, line, lines)] : [];
			// The first lines of a file need no position.
			const isFirst = lines[index - 1]?.kind === "file" && /^@@ -[01],/.test(line.text);
			return line.kind === "place" && isFirst ? [] : [paintLine(paint, line, language)];
		})
		.join("\n");
}

function isNewName({ kind, text }: ChangeLine): boolean {
	return kind === "file" && text.startsWith("+++ ");
}

/** The name of the file, and how many lines a change adds and removes. */
function headOf(paint: Paint, { text }: ChangeLine, lines: readonly ChangeLine[]): string {
	const count = (wanted: ChangeLine["kind"]): number => lines.filter(({ kind }) => kind === wanted).length;
	const isNew = lines.some((line) => line.kind === "file" && line.text === "--- /dev/null");
	const removed = count("removed") === 0 ? "" : ` ${paint("bad", `-${count("removed")}`)}`;
	const said = `${paint("good", `+${count("added")}`)}${removed}${isNew ? paint("quiet", " new file") : ""}`;
	return `${paint("strong", text.slice("+++ ".length))}  ${said}`;
}

function paintLine(paint: Paint, line: ChangeLine, language: string | undefined): string {
	const { kind, text, changed = [] } = line;
	switch (kind) {
		case "file":
			return paint("strong", text);
		case "place":
			// Commands are shown as places, too.
			if (!text.startsWith("@@ ")) return paint("code", text);
			return paint("quiet", text.replace(/^@@ .*\+(\d+),\d+ @@$/, "⋯ line $1"));
		case "remark":
			return paint("warning", text);
		case "kept":
			return ` ${paintPieces(paint, piecesOfChange(text.slice(1), language))}`;
		case "removed":
		case "added": {
			const { line: whole, word } = tints[kind];
			let painted = paint(whole, paint(marks[kind], text.slice(0, 1)));
			let at = 1;
			for (const { text: piece, style } of piecesOfChange(text.slice(1), language)) {
				for (const [part, isChanged] of cutAt(piece, at, changed)) {
					const coloured = style === undefined ? part : paint(style, part);
					painted += paint(isChanged ? word : whole, coloured);
				}
				at += piece.length;
			}
			return painted;
		}
	}
}

/** Cuts a piece of a line, which begins at `from`, at the ends of the changed ranges. */
function cutAt(
	piece: string,
	from: number,
	changed: NonNullable<ChangeLine["changed"]>,
): readonly (readonly [text: string, isChanged: boolean])[] {
	const parts: (readonly [string, boolean])[] = [];
	let at = from;
	const end = from + piece.length;
	for (const [start, stop] of changed) {
		if (stop <= at || start >= end) continue;
		if (start > at) parts.push([piece.slice(at - from, start - from), false]);
		parts.push([piece.slice(Math.max(at, start) - from, Math.min(stop, end) - from), true]);
		at = Math.min(stop, end);
	}
	if (at < end) parts.push([piece.slice(at - from), false]);
	return parts;
}
