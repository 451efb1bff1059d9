/** Breaks text between words for a terminal; the further rows of a line begin where its text does. */
import stringWidth from "string-width";
import wrapAnsi from "wrap-ansi";

/** Breaks each line for so many columns. Further rows of an item of a list, and of what is indented, hang. */
export function wrapped(text: string, columns: number): string {
	return text
		.split("\n")
		.map((line) => wrappedLine(line, columns, /^ *(?:• |\d+\. )? */.exec(line)?.[0].length ?? 0))
		.join("\n");
}

/** Breaks one line; its further rows begin after so many columns. A word that fits no row has one of its own. */
export function wrappedLine(line: string, columns: number, hang: number): string {
	if (stringWidth(line) <= columns) return line;
	const rows = wrapAnsi(line.slice(hang), Math.max(1, columns - hang));
	return line.slice(0, hang) + rows.replaceAll("\n", `\n${" ".repeat(hang)}`);
}
