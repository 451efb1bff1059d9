/** What an answer is made of, and how it is written down: lines with `path:line` citations. */
import type { Block, SourceDocument } from "./document.ts";

/** One line of an answer. */
export interface AnswerLine {
	readonly text: string;
	/** Where it stands; left out for lines of our own such as group titles. */
	readonly cite?: { readonly path: string; readonly line: number };
	/** Nesting below the line before. */
	readonly indent?: number;
	readonly kind?: "title" | "item" | "code" | "plain";
}

/** An answer, and how sure it is (0 to 1). */
export interface Answer {
	readonly confidence: number;
	readonly lines: readonly AnswerLine[];
}

/** Beyond this many lines each line is kept short, and beyond the other an answer ends. */
const LONG = 60;
const LONGEST = 160;
const LINE_CHARACTERS = 420;
const SHORT_LINE_CHARACTERS = 240;

/** Writes an answer as text. */
export function renderAnswer(lines: readonly AnswerLine[]): string {
	const joined = joinCode(lines);
	const output: string[] = [];
	const width = joined.length > LONG ? SHORT_LINE_CHARACTERS : LINE_CHARACTERS;
	for (const [index, line] of joined.entries()) {
		if (index >= LONGEST && joined.length - index > 12) {
			const left = joined.slice(index).filter((rest) => rest.kind !== "title").length;
			output.push("", `… and ${left} more.`);
			break;
		}
		if (line.kind === "title" && output.length > 0) output.push("");
		const indent = "  ".repeat(line.indent ?? 0);
		const place = line.cite ? `${line.cite.path}:${line.cite.line}` : "";
		if (line.kind === "code")
			output.push(
				...[...(place === "" ? [] : [`${place}:`]), "```", ...line.text.split("\n"), "```"].map(
					(text) => `${indent}${text}`,
				),
			);
		else
			output.push(
				`${indent}${line.kind === "item" ? "- " : ""}${shorten(line.text, width)}${place === "" ? "" : ` (${place})`}`,
			);
	}
	return output.join("\n");
}

/** Pieces of code that follow each other in a file are shown as one. */
function joinCode(lines: readonly AnswerLine[]): AnswerLine[] {
	const joined: AnswerLine[] = [];
	for (const line of lines) {
		const last = joined.at(-1);
		const follows =
			last?.kind === "code" &&
			line.kind === "code" &&
			last.cite &&
			line.cite &&
			last.cite.path === line.cite.path;
		if (
			follows &&
			(last.cite as { line: number }).line + last.text.split("\n").length + 1 ===
				(line.cite as { line: number }).line
		)
			joined[joined.length - 1] = { ...last, text: `${last.text}\n\n${line.text}` };
		else joined.push(line);
	}
	return joined;
}

function shorten(text: string, width: number): string {
	const line = text.replace(/\s+/g, " ").trim();
	if (line.length <= width) return line;
	const cut = line.slice(0, width);
	const end = Math.max(cut.lastIndexOf(". "), cut.lastIndexOf("; "));
	return end > width / 2 ? `${cut.slice(0, end + 1)} …` : `${cut}…`;
}

/** A block as an answer's line. */
export function blockLine(document: SourceDocument, block: Block, indent = 0): AnswerLine {
	const cite = { path: document.path, line: block.line };
	if (block.kind === "code" && document.kind === "prose")
		return { text: block.text.replace(/\s+$/, ""), kind: "code", indent, cite };
	if (block.kind === "definition") {
		const [first = "", ...rest] = block.text.split("\n");
		return { text: rest.length > 0 ? `${rest.join(" ")} — ${first}` : first, cite, kind: "item", indent };
	}
	return { text: block.text, cite, kind: block.kind === "heading" ? "plain" : "item", indent };
}
