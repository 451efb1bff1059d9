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
	| { readonly type: "complete" }
	/** Opens the last long text. */
	| { readonly type: "open" }
	| { readonly type: "page-up" | "page-down" }
	/** Inserts the image of the clipboard. */
	| { readonly type: "paste-image" }
	/** Searches the history. */
	| { readonly type: "search" }
	/** Stops the process until the shell continues it. */
	| { readonly type: "suspend" };

/**
 * Maps input to actions. Keys may arrive together when the user types ahead: words, control keys and a last Enter. A
 * paste is marked as one, and several lines without the mark are taken as one too.
 */
export function actionsOf(input: string, key: Key): readonly KeyAction[] {
	const [, text = "", end = ""] = /^([^\r\n]+)(\r?)$/.exec(input) ?? [];
	if (key.ctrl || key.meta || text + end === "" || text + end === text[0]) {
		const action = actionOf(input, key);
		return action === undefined ? [] : [action];
	}
	const typed = text.split(controlKeys).flatMap((piece): readonly KeyAction[] => {
		const action: KeyAction | undefined = isControl(piece)
			? withControl(String.fromCharCode(piece.charCodeAt(0) + 96))
			: { type: "insert", text: piece };
		return piece === "" || action === undefined ? [] : [action];
	});
	return end === "" ? typed : [...typed, { type: "send" }];
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals send Ctrl-A as the character 1, and so on
const controlKeys = /([\x01-\x08\x0b\x0c\x0e-\x1a])/;

function isControl(piece: string): boolean {
	return piece.length === 1 && controlKeys.test(piece);
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
	if (key.pageUp) return { type: "page-up" };
	if (key.pageDown) return { type: "page-down" };
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
	o: { type: "open" },
	p: { type: "up" },
	r: { type: "search" },
	u: { type: "delete-to-start" },
	v: { type: "paste-image" },
	w: { type: "delete-word" },
	z: { type: "suspend" },
};

function withControl(input: string): KeyAction | undefined {
	return controls[input];
}

function isLineEnd(input: string): boolean {
	return input === "\r" || input === "\n";
}
