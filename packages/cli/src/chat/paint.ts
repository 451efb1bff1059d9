/** The styles of a chat. Without colours everything is said in plain characters. */
import { styleText } from "node:util";
import type { ChangeLine } from "../render/index.ts";

type Style = Parameters<typeof styleText>[0];

const styles = {
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
} satisfies Readonly<Record<string, Style>>;

/** Gives a text a style. */
export type Paint = (style: keyof typeof styles, text: string) => string;

const changes: Readonly<Record<ChangeLine["kind"], keyof typeof styles | undefined>> = {
	file: "strong",
	place: "code",
	kept: undefined,
	removed: "bad",
	added: "good",
	remark: "warning",
};

export function makePaint(hasColours: boolean): Paint {
	return (style, text) =>
		hasColours && text !== "" ? styleText(styles[style] as Style, text, { validateStream: false }) : text;
}

/** A line of a change. */
export function paintChange(paint: Paint, { kind, text }: ChangeLine): string {
	const style = changes[kind];
	return style === undefined ? text : paint(style, text);
}
