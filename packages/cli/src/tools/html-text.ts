/**
 * Extracts the readable text of an HTML page in one pass. It uses the tokenizer: a parser tracks open elements, which
 * takes quadratic time for pages with very many of them.
 */
import { Tokenizer, type TokenizerCallbacks } from "htmlparser2";

/** Elements that start and end a line. */
const LINES = new Set(
	(
		"address article aside blockquote body br dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 " +
		"h5 h6 head header hr li main nav ol option p pre section summary table tbody tfoot thead title tr ul"
	).split(" "),
);
/** Elements whose content is not readable text. */
const UNREAD = new Set(["script", "style", "svg", "noscript", "template"]);

const nothing = (): void => {};

/** Returns the text of a page without its tags; blocks are separated by line ends. */
export function htmlText(html: string): string {
	const parts: string[] = [];
	let opened = "";
	let skipped = "";
	let depth = 0;
	const leave = (name: string): void => {
		if (skipped === "") parts.push(boundary(name));
		else if (name === skipped && --depth === 0) skipped = "";
	};
	const listener: TokenizerCallbacks = {
		ontext(start, end) {
			if (skipped === "") parts.push(html.slice(start, end));
		},
		ontextentity(character) {
			if (skipped === "") parts.push(String.fromCodePoint(character));
		},
		onopentagname(start, end) {
			opened = html.slice(start, end).toLowerCase();
			if (skipped === "" && UNREAD.has(opened)) skipped = opened;
			if (skipped === opened) depth++;
			else if (skipped === "") parts.push(boundary(opened));
		},
		onselfclosingtag() {
			if (opened === "svg") leave(opened);
		},
		onclosetag(start, end) {
			leave(html.slice(start, end).toLowerCase());
		},
		onattribdata: nothing,
		onattribentity: nothing,
		onattribend: nothing,
		onattribname: nothing,
		oncdata: nothing,
		oncomment: nothing,
		ondeclaration: nothing,
		onend: nothing,
		onopentagend: nothing,
		onprocessinginstruction: nothing,
	};
	const tokenizer = new Tokenizer({ decodeEntities: true }, listener);
	tokenizer.write(html);
	tokenizer.end();
	return withoutBlankRuns(parts.join(""));
}

function boundary(name: string): string {
	if (LINES.has(name)) return "\n";
	return name === "td" || name === "th" ? " " : "";
}

/** Collapses blanks to one space, and blank lines to one. */
function withoutBlankRuns(text: string): string {
	const lines: string[] = [];
	for (const line of text.split("\n")) {
		const trimmed = line.replace(/\s+/g, " ").trim();
		if (trimmed !== "" || lines.at(-1) !== "") lines.push(trimmed);
	}
	return lines.join("\n").trim();
}
