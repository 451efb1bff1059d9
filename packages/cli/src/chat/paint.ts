/** The styles of a chat. Without colours, plain characters convey everything. */
import { styleText } from "node:util";
import type { ChangeLine } from "../render/index.ts";

type Style = Parameters<typeof styleText>[0];

type Name =
	| "heading"
	| "strong"
	| "emphasis"
	| "deleted"
	| "code"
	| "link"
	| "quiet"
	| "warning"
	| "good"
	| "bad"
	| "user"
	| "changed";

const styles: Readonly<Record<Name, Style>> = {
	heading: ["bold", "underline"],
	strong: "bold",
	emphasis: "italic",
	deleted: "strikethrough",
	code: "cyan",
	link: "underline",
	quiet: "dim",
	warning: "yellow",
	good: "green",
	bad: "red",
	user: "bold",
	changed: "inverse",
};

/** Applies a style to a text. */
export type Paint = (style: Name, text: string) => string;

const changes: Readonly<Record<ChangeLine["kind"], Name | undefined>> = {
	file: "strong",
	place: "code",
	kept: undefined,
	removed: "bad",
	added: "good",
	remark: "warning",
};

export function makePaint(hasColours: boolean): Paint {
	return (style, text) =>
		hasColours && text !== "" ? styleText(styles[style], text, { validateStream: false }) : text;
}

/** Paints a line of a change; words that differ from the other version stand out. */
export function paintChange(paint: Paint, { kind, text, changed = [] }: ChangeLine): string {
	const style = changes[kind];
	if (style === undefined) return text;
	let painted = "";
	let at = 0;
	for (const [from, to] of changed) {
		painted += `${paint(style, text.slice(at, from))}${paint("changed", paint(style, text.slice(from, to)))}`;
		at = to;
	}
	return painted + paint(style, text.slice(at));
}
