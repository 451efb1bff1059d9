/** Formats a menu: the choices around the selected one, and the keys. */
import stringWidth from "string-width";
import { fitted } from "../terminal/index.ts";
import type { Menu, Trigger } from "./menu.ts";
import type { Paint } from "./paint.ts";

/** Maximum number of columns of a label that has a detail. */
const WIDEST_LABEL = 44;

/** Returns the lines of a menu, at most `rows` and one more. */
export function menuLines(
	{ trigger, all, fitting, selected }: Menu,
	{ paint, columns, rows }: { readonly paint: Paint; readonly columns: number; readonly rows: number },
): readonly string[] {
	const line = (text: string): string => paint("quiet", `  ${fitted(text, columns - 3)}`);
	if (all === undefined) return [line("…")];
	// A word without a match needs no line: most words after @ and # are not paths or sessions.
	if (fitting.length === 0)
		return trigger.kind === "history" ? [line("No earlier message contains this.")] : [];
	const from = Math.max(0, Math.min(selected - Math.floor(rows / 2), fitting.length - rows));
	const visible = fitting.slice(from, from + rows).map(({ label, detail }) => ({
		label: fitted(label, detail === "" ? columns - 3 : Math.min(WIDEST_LABEL, columns - 3)),
		detail,
	}));
	const width = Math.max(...visible.map(({ label }) => stringWidth(label)));
	const lines = visible.map(({ label, detail }, index) => {
		const isSelected = from + index === selected;
		const room = columns - width - 6;
		const said = room < 10 || detail === "" ? "" : `  ${fitted(detail, room)}`;
		const name = `${label}${" ".repeat(width - stringWidth(label))}`;
		return `${isSelected ? paint("user", "❯") : " "} ${isSelected ? paint("user", name) : name}${paint("quiet", said)}`;
	});
	const more = fitting.length > rows ? `${selected < 0 ? 1 : selected + 1} of ${fitting.length} · ` : "";
	return [...lines, line(`${more}${keysOf(trigger)}`)];
}

function keysOf({ kind }: Trigger): string {
	switch (kind) {
		case "history":
			return "Enter inserts · Ctrl-R next · Esc cancels";
		case "question":
			return "a letter or ↑↓, then Enter · Esc interrupts";
		case "command":
		case "argument":
		case "file":
		case "session":
			return "↑↓ choose · Tab inserts · Esc closes";
	}
}
