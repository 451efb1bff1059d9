/** Lays out help for a terminal: paragraphs and descriptions wrap between words, with hanging indents. */
import { wrappedLine } from "../terminal/index.ts";

/** Widest comfortable line, in columns. */
const widest = 100;
/** Column where descriptions of options start. */
const described = 21;

/** Wraps a help text to the terminal's width. Examples and usage lines are kept whole if they fit. */
export function laidOut(help: string, columns: number): string {
	const width = Math.min(widest, columns - 1);
	return joined(help)
		.map((line) => broken(line, width))
		.join("\n");
}

/** Joins lines with their continuations. */
function joined(help: string): readonly string[] {
	const lines: string[] = [];
	for (const line of help.split("\n")) {
		const before = lines.at(-1) ?? "";
		const isText = /^[^\s]/.test(line) && /^[^\s]/.test(before) && !line.startsWith("holdfast ");
		const continues = isText && !before.startsWith("holdfast ");
		if (before !== "" && (continues || /^ {20,}\S/.test(line)))
			lines[lines.length - 1] = `${before} ${line.trim()}`;
		else lines.push(line);
	}
	return lines;
}

function broken(line: string, width: number): string {
	const hang = hangOf(line);
	return hang === undefined ? line : wrappedLine(line, width, hang);
}

/** Returns the hanging indent of a line; undefined for an example, which is not wrapped. */
function hangOf(line: string): number | undefined {
	if (!line.startsWith(" ")) return line.startsWith("holdfast ") ? 4 : 0;
	const [head] = /^ +\S.*? {2,}(?=\S)/.exec(line) ?? [];
	if (head !== undefined) return head.length;
	return /^ {2}\S.{17} \S/.test(line) && /^ {2}(?:--|DIR)/.test(line) ? described : undefined;
}
