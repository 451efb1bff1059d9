/** Maps keys to editing actions. */
import type { Key } from "ink";
import type { Edit } from "./editor.ts";

/** The effect of a key besides editing. */
export type KeyAction =
	| Edit
	| { readonly type: "send" }
	| { readonly type: "interrupt" }
	| { readonly type: "leave" }
	| { readonly type: "end-of-input" }
	| { readonly type: "complete" };

/** Maps input to actions. A word and Enter may arrive together when the user types ahead; a paste is marked as one. */
export function actionsOf(input: string, key: Key): readonly KeyAction[] {
	const [, text] = /^([^\r\n]+)\r$/.exec(input) ?? [];
	if (text !== undefined && !key.ctrl && !key.meta) return [{ type: "insert", text }, { type: "send" }];
	const action = actionOf(input, key);
	return action === undefined ? [] : [action];
}

/** Undefined for a key without a meaning. */
function actionOf(input: string, key: Key): KeyAction | undefined {
	if (key.ctrl) return withControl(input);
	if (key.return) return key.meta || key.shift ? newLine : { type: "send" };
	if (key.escape) return { type: "interrupt" };
	if (key.tab) return { type: "complete" };
	if (key.upArrow) return { type: "up" };
	if (key.downArrow) return { type: "down" };
	if (key.leftArrow) return { type: key.meta ? "word-left" : "left" };
	if (key.rightArrow) return { type: key.meta ? "word-right" : "right" };
	if (key.home) return { type: "home" };
	if (key.end) return { type: "end" };
	if (key.backspace) return { type: key.meta ? "delete-word" : "backspace" };
	if (key.delete) return { type: "delete" };
	if (key.pageUp || key.pageDown) return undefined;
	if (key.meta)
		return input === "b"
			? { type: "word-left" }
			: input === "f"
				? { type: "word-right" }
				: isLineEnd(input)
					? newLine
					: undefined;
	// Terminals send Ctrl-J as a single line end; a line end among other characters was pasted.
	return input === "" ? undefined : { type: "insert", text: input };
}

const newLine = { type: "insert", text: "\n" } as const;

const controls: Readonly<Record<string, KeyAction>> = {
	a: { type: "home" },
	b: { type: "left" },
	c: { type: "leave" },
	d: { type: "end-of-input" },
	e: { type: "end" },
	f: { type: "right" },
	h: { type: "backspace" },
	j: newLine,
	k: { type: "delete-to-end" },
	n: { type: "down" },
	p: { type: "up" },
	u: { type: "delete-to-start" },
	w: { type: "delete-word" },
};

function withControl(input: string): KeyAction | undefined {
	return controls[input];
}

function isLineEnd(input: string): boolean {
	return input === "\r" || input === "\n";
}
