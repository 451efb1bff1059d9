/** Finished chat entries as terminal text. */
import stringWidth from "string-width";
import type { CallText } from "../render/index.ts";
import { counted, fitted, printable } from "../terminal/index.ts";
import type { ChatEntry } from "./chat-transcript.ts";
import { renderMarkdown } from "./markdown.ts";
import { codeText, type Paint, paintChange } from "./paint.ts";

/** A longer message is cut, to fewer lines. */
const MOST_LINES = 40;
const SHOWN_LINES = 20;
const MOST_CHARACTERS = 4_000;
/** Fewer columns than this are not worth a part of a line. */
const FEWEST = 8;

/** What a call did, and in the rest of the line how it went, which stays in the background. */
function callText({ head, tail }: CallText, paint: Paint, columns: number): string {
	const wanted = stringWidth(tail);
	// What the call does matters more than how it went.
	const least = columns < 3 * FEWEST ? 0 : Math.min(wanted, Math.max(2 * FEWEST, Math.floor(columns / 3)));
	const shown = fitted(head, columns - least);
	const room = columns - stringWidth(shown);
	return room < FEWEST ? shown : shown + paint("quiet", ` ${fitted(tail, room - 1)}`);
}

/** Returns the beginning of a long message, which is known to who wrote it, such as a pasted file. */
function cutMessage(text: string): string {
	const lines = text.split("\n");
	if (lines.length <= MOST_LINES && text.length <= MOST_CHARACTERS) return text;
	const shown = lines.slice(0, SHOWN_LINES).join("\n").slice(0, MOST_CHARACTERS).toWellFormed();
	const left = lines.length - shown.split("\n").length;
	const more = left > 0 ? counted(left, "more line") : counted(text.length - shown.length, "more character");
	return `${shown}\n… ${more}`;
}

/** Formats an entry for a terminal of the given width. */
export function entryText(entry: ChatEntry, paint: Paint, columns: number): string {
	switch (entry.kind) {
		case "user":
			return `\n${paint("user", `> ${printable(cutMessage(entry.text)).replaceAll("\n", "\n  ")}`)}\n`;
		case "answer":
			return renderMarkdown(entry.text, paint, columns);
		case "code":
			return codeText(paint, entry.pieces);
		case "tool":
			return `${paint(entry.isDone ? "good" : "bad", entry.mark)} ${callText(entry, paint, columns - entry.mark.length - 2)}`;
		case "change":
			return paintChange(paint, entry.lines);
		case "note":
			return entry.tone === "plain" ? printable(entry.text) : paint(entry.tone, printable(entry.text));
	}
}
