/** Breaks text between words for a terminal; the further rows of a line begin where its text does. */
import stringWidth from "string-width";

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
	const rows: string[] = [];
	let row = line.slice(0, hang);
	let width = hang;
	for (const [, gap = "", word = ""] of line.slice(hang).matchAll(/( *)([^ ]+)/g)) {
		const longer = width + gap.length + stringWidth(word);
		const fits = width === hang || longer <= columns;
		if (!fits) rows.push(row);
		row = fits ? row + gap + word : " ".repeat(hang) + word;
		width = fits ? longer : hang + stringWidth(word);
	}
	return [...rows, row].join("\n");
}
