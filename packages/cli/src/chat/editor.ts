/** The text that the user is writing: lines, a cursor and a history. Pure: maps a draft and a key to the next draft. */

/** The typed text. */
export interface Draft {
	readonly text: string;
	/** Position of the cursor, in UTF-16 units, never within a character. */
	readonly cursor: number;
	/** Which history entry is shown, counted from the latest; 0: none. */
	readonly past: number;
	/** The text that was typed before the user opened the history. */
	readonly kept: string;
}

/** The editing operations. */
export type Edit =
	| { readonly type: "insert"; readonly text: string }
	| { readonly type: "backspace" | "delete" | "delete-word" | "delete-to-start" | "delete-to-end" }
	| { readonly type: "left" | "right" | "word-left" | "word-right" | "home" | "end" | "up" | "down" }
	| { readonly type: "clear" };

export const emptyDraft: Draft = { text: "", cursor: 0, past: 0, kept: "" };

const characters = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** Applies an edit. `history` contains earlier texts, the latest last. */
export function edited(draft: Draft, edit: Edit, history: readonly string[]): Draft {
	const { text, cursor } = draft;
	const between = (from: number, to: number, put = ""): Draft => ({
		...draft,
		text: text.slice(0, from) + put + text.slice(to),
		cursor: from + put.length,
	});
	const moved = (to: number): Draft => ({ ...draft, cursor: to });
	switch (edit.type) {
		case "insert":
			return between(cursor, cursor, plain(edit.text));
		case "backspace":
			return between(before(text, cursor), cursor);
		case "delete":
			return between(cursor, after(text, cursor));
		case "delete-word":
			return between(wordBefore(text, cursor), cursor);
		case "delete-to-start":
			return between(lineStart(text, cursor), cursor);
		case "delete-to-end":
			return between(
				cursor,
				Math.max(lineEnd(text, cursor), Math.min(cursor + 1, text.length)) === cursor + 1 &&
					text[cursor] === "\n"
					? cursor + 1
					: lineEnd(text, cursor),
			);
		case "left":
			return moved(before(text, cursor));
		case "right":
			return moved(after(text, cursor));
		case "word-left":
			return moved(wordBefore(text, cursor));
		case "word-right":
			return moved(cursor + (/^\s*\S+/.exec(text.slice(cursor))?.[0].length ?? text.length - cursor));
		case "home":
			return moved(lineStart(text, cursor));
		case "end":
			return moved(lineEnd(text, cursor));
		case "up":
			return lineStart(text, cursor) === 0
				? recalled(draft, draft.past + 1, history)
				: moved(lineAbove(text, cursor));
		case "down":
			return lineEnd(text, cursor) === text.length
				? recalled(draft, draft.past - 1, history)
				: moved(lineBelow(text, cursor));
		case "clear":
			return emptyDraft;
	}
}

/** Removes characters that could control a terminal, and normalises line ends. */
function plain(text: string): string {
	// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is taken out
	return text.replace(/\r\n?/g, "\n").replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, "");
}

function recalled(draft: Draft, past: number, history: readonly string[]): Draft {
	if (past < 0 || past > history.length) return draft;
	const kept = draft.past === 0 ? draft.text : draft.kept;
	const text = past === 0 ? kept : (history.at(-past) as string);
	return { text, cursor: text.length, past, kept };
}

/** Treats a grapheme as one character. Only the line around the cursor is examined. */
function before(text: string, at: number): number {
	if (at === 0) return 0;
	const from = Math.max(lineStart(text, at), at - 200);
	if (from === at) return at - 1;
	return from + ([...characters.segment(text.slice(from, at))].at(-1)?.index ?? 0);
}

function after(text: string, at: number): number {
	const [first] = characters.segment(text.slice(at, at + 200));
	return at + (first?.segment.length ?? 0);
}

function wordBefore(text: string, at: number): number {
	return text
		.slice(0, at)
		.trimEnd()
		.search(/(?<!\S)\S*$/);
}

function lineStart(text: string, at: number): number {
	return text.lastIndexOf("\n", at - 1) + 1;
}

function lineEnd(text: string, at: number): number {
	const end = text.indexOf("\n", at);
	return end < 0 ? text.length : end;
}

function lineAbove(text: string, at: number): number {
	const start = lineStart(text, at);
	const above = lineStart(text, start - 1);
	return Math.min(above + (at - start), start - 1);
}

function lineBelow(text: string, at: number): number {
	const column = at - lineStart(text, at);
	const below = lineEnd(text, at) + 1;
	return Math.min(below + column, lineEnd(text, below));
}
