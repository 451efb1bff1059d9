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
	| "user";

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

/** Paints a line of a change. */
export function paintChange(paint: Paint, { kind, text }: ChangeLine): string {
	const style = changes[kind];
	return style === undefined ? text : paint(style, text);
}
