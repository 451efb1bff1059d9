/** Finished chat entries as terminal text. */
import { oneLine, printable } from "../terminal/index.ts";
import type { ChatEntry } from "./chat-transcript.ts";
import { renderMarkdown } from "./markdown.ts";
import { codeText, type Paint, paintChange } from "./paint.ts";

/** Formats an entry for a terminal of the given width. */
export function entryText(entry: ChatEntry, paint: Paint, columns: number): string {
	switch (entry.kind) {
		case "user":
			return `\n${paint("user", `> ${printable(entry.text).replaceAll("\n", "\n  ")}`)}\n`;
		case "answer":
			return renderMarkdown(entry.text, paint, columns);
		case "code":
			return codeText(paint, entry.pieces);
		case "tool":
			return `${paint(entry.isDone ? "good" : "bad", entry.text.slice(0, 1))} ${oneLine(entry.text.slice(1), columns - 3)}`;
		case "change":
			return paintChange(paint, entry.lines);
		case "note":
			return entry.tone === "plain" ? printable(entry.text) : paint(entry.tone, printable(entry.text));
	}
}
