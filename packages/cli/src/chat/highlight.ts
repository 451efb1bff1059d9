/**
 * Highlights code. The highlighter is loaded only for a screen with colours, because loading it takes time; until then, code
 * is one piece.
 */
import type { StyleName } from "./theme.ts";

/** A piece of a line of code. */
export interface Piece {
	readonly text: string;
	readonly style: StyleName | undefined;
}

interface Node {
	readonly type: string;
	readonly value?: string;
	readonly properties?: { readonly className?: unknown };
	readonly children?: readonly unknown[];
}

type Highlighter = (language: string, code: string) => readonly Node[] | undefined;

let highlighter: Highlighter | undefined;

/** Loads the highlighter. */
export async function loadHighlighter(): Promise<void> {
	const { common, createLowlight } = await import("lowlight");
	const lowlight = createLowlight(common);
	highlighter = (language, code) =>
		lowlight.registered(language)
			? (lowlight.highlight(language, code).children as readonly Node[])
			: undefined;
}

/** Longer code is shown in one colour. */
const LONGEST = 20_000;

const styles: Readonly<Record<string, StyleName>> = {
	keyword: "keyword",
	built_in: "type",
	literal: "number",
	number: "number",
	symbol: "number",
	bullet: "number",
	string: "string",
	regexp: "string",
	char: "string",
	link: "string",
	comment: "comment",
	quote: "comment",
	doctag: "comment",
	meta: "comment",
	title: "title",
	section: "title",
	name: "keyword",
	"selector-tag": "keyword",
	"selector-class": "type",
	"selector-id": "type",
	type: "type",
	class: "type",
	attr: "attribute",
	attribute: "attribute",
	property: "attribute",
	variable: "attribute",
	"template-variable": "attribute",
	addition: "good",
	deletion: "bad",
};

/** Returns the lines of code in pieces; if the language is unknown, a line is one piece. */
export function highlight(code: string, language: string | undefined): readonly (readonly Piece[])[] {
	const nodes =
		language === undefined || code.length > LONGEST ? undefined : highlighter?.(language.toLowerCase(), code);
	if (nodes === undefined) return code.split("\n").map((text) => [{ text, style: "code" }]);
	const lines: Piece[][] = [[]];
	const add = (children: readonly Node[], outer: StyleName | undefined): void => {
		for (const { type, value = "", properties, children: inner = [] } of children) {
			if (type === "element") add(inner as readonly Node[], styleOf(properties?.className) ?? outer);
			else
				for (const [index, text] of value.split("\n").entries()) {
					if (index > 0) lines.push([]);
					if (text !== "") lines.at(-1)?.push({ text, style: outer });
				}
		}
	};
	add(nodes, undefined);
	return lines;
}

function styleOf(className: unknown): StyleName | undefined {
	const [name = ""] = Array.isArray(className) ? className : [];
	return styles[String(name).replace(/^hljs-/, "")];
}

/** Returns the pieces of the last line of `line`, which follows `before`. */
export function piecesOfLine(line: string, language: string | undefined, before = ""): readonly Piece[] {
	return highlight(`${before}${line}`, language).at(-1) ?? [];
}

/** Returns the language of a file by the ending of its name. */
export function languageOf(path: string): string | undefined {
	return /\.([a-z0-9]+)$/i.exec(path)?.[1]?.toLowerCase();
}
