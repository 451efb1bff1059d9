/** Wraps text between words for a terminal, with hanging indents. */
import stringWidth from "string-width";
import wrapAnsi from "wrap-ansi";

/** Wraps each line to the given width. List items and indented text get a hanging indent. */
export function wrapped(text: string, columns: number): string {
	return text
		.split("\n")
		.map((line) => wrappedLine(line, columns, /^ *(?:• |\d+\. )? */.exec(line)?.[0].length ?? 0))
		.join("\n");
}

/** Wraps one line, indenting all rows after the first by `hang` columns. A word that fits no row gets its own. */
export function wrappedLine(line: string, columns: number, hang: number): string {
	if (stringWidth(line) <= columns) return line;
	const rows = wrapAnsi(line.slice(hang), Math.max(1, columns - hang));
	return line.slice(0, hang) + rows.replaceAll("\n", `\n${" ".repeat(hang)}`);
}
