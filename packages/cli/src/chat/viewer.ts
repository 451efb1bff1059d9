/**
 * Shows a long text that the chat shows in one line, such as the result of a call: closed ── Ctrl-O ──▶ open, at the last
 * text ── Esc ──▶ closed. While it is open, it receives all keys.
 */
import wrapAnsi from "wrap-ansi";
import { fitted, printable } from "../terminal/index.ts";
import type { Openable, Transcript } from "./chat-transcript.ts";
import type { KeyAction } from "./keys.ts";
import type { Paint } from "./paint.ts";

/** Lines that a page key moves by. */
const PAGE = 15;

/** The open text. */
export interface View {
	readonly opened: Openable;
	/** Its number, from 1, and how many there are. */
	readonly number: number;
	readonly count: number;
	/** The first line shown; beyond the last lines, those are shown. */
	readonly top: number;
}

export class Viewer {
	readonly #transcript: Pick<Transcript, "openables">;
	readonly #listeners = new Set<() => void>();
	#view: View | undefined;

	constructor(transcript: Pick<Transcript, "openables">) {
		this.#transcript = transcript;
	}

	readonly subscribe = (changed: () => void): (() => void) => {
		this.#listeners.add(changed);
		return () => void this.#listeners.delete(changed);
	};

	readonly snapshot = (): View | undefined => this.#view;

	/** Handles a key; returns whether it was for the viewer. */
	act(action: KeyAction): boolean {
		if (this.#view === undefined) {
			if (action.type === "open") this.#open(this.#transcript.openables.length - 1);
			return action.type === "open";
		}
		switch (action.type) {
			case "open":
			case "interrupt":
			case "send":
				this.#set(undefined);
				return true;
			case "leave":
				this.#set(undefined);
				return false;
			case "up":
				return this.#scroll(-1);
			case "down":
				return this.#scroll(1);
			case "page-up":
				return this.#scroll(-PAGE);
			case "page-down":
				return this.#scroll(PAGE);
			case "left":
				this.#open(this.#view.number - 2);
				return true;
			case "right":
				this.#open(this.#view.number);
				return true;
			default:
				return true;
		}
	}

	#open(index: number): void {
		const { openables } = this.#transcript;
		const opened = openables[index];
		if (opened === undefined) return;
		this.#set({ opened, number: index + 1, count: openables.length, top: 0 });
	}

	#scroll(lines: number): true {
		const view = this.#view as View;
		const last = view.opened.text.split("\n").length * 4;
		this.#set({ ...view, top: Math.max(0, Math.min(view.top + lines, last)) });
		return true;
	}

	#set(view: View | undefined): void {
		this.#view = view;
		for (const changed of [...this.#listeners]) changed();
	}
}

/** Splits a text into the rows that it takes. */
export function rowsOf(text: string, columns: number): readonly string[] {
	const tabbed = printable(text).replaceAll("\t", "    ");
	return wrapAnsi(tabbed, Math.max(1, columns), { hard: true, trim: false }).split("\n");
}

/** Formats the open text: a title, as many rows as fit, and the keys. */
export function viewLines(
	{ opened, number, count, top }: View,
	rows: readonly string[],
	{ paint, columns, height }: { readonly paint: Paint; readonly columns: number; readonly height: number },
): readonly string[] {
	const room = Math.max(1, height - 3);
	const from = Math.max(0, Math.min(top, rows.length - room));
	const place =
		rows.length > room ? ` · lines ${from + 1}–${Math.min(rows.length, from + room)} of ${rows.length}` : "";
	const keys = `${number} of ${count}${place} · ↑↓ PgUp PgDn scroll · ←→ others · Esc closes`;
	return [
		paint("strong", fitted(opened.title, columns - 1)),
		...rows.slice(from, from + room),
		"",
		paint("quiet", fitted(keys, columns - 1)),
	];
}
