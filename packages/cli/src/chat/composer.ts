/**
 * The user's side of a chat: typing, history, interrupting and leaving. A separate store, so that the screen is a
 * function of this and the transcript.
 */
import { type Draft, edited, emptyDraft } from "./editor.ts";
import type { History } from "./history.ts";
import type { KeyAction } from "./keys.ts";

/** The state that the composer renders. */
export interface Composed {
	readonly draft: Draft;
	/** The line below the draft: completions, or a reminder that Ctrl-C again leaves. */
	readonly hint: string;
}

export interface ComposerParts {
	readonly history: History;
	/** Accepts the submitted text. */
	send(text: string): void;
	/** Interrupts the run; returns whether there was one to interrupt. */
	interrupt(): boolean;
	leave(): void;
	/** Returns the completions of a word. */
	complete(word: string): Promise<readonly string[]>;
}

export class Composer {
	readonly #parts: ComposerParts;
	readonly #listeners = new Set<() => void>();
	#composed: Composed = { draft: emptyDraft, hint: "" };
	/** Whether Ctrl-C was the last key. */
	#isLeaving = false;

	constructor(parts: ComposerParts) {
		this.#parts = parts;
	}

	readonly subscribe = (changed: () => void): (() => void) => {
		this.#listeners.add(changed);
		return () => void this.#listeners.delete(changed);
	};

	readonly snapshot = (): Composed => this.#composed;

	/** Handles a key. */
	act(action: KeyAction): void {
		const wasLeaving = this.#isLeaving;
		this.#isLeaving = false;
		const { draft } = this.#composed;
		if (action.type === "send") this.#send(draft);
		else if (action.type === "complete") void this.#complete(draft);
		else if (action.type === "leave") this.#leave(draft, wasLeaving);
		else if (action.type === "interrupt") {
			if (!this.#parts.interrupt()) this.#clear(draft);
		} else if (action.type !== "end-of-input") this.#edit(action);
		else if (draft.text === "") this.#parts.leave();
		else this.#edit({ type: "delete" });
	}

	/** Interrupts and clears the first time; leaves the second time in a row. */
	#leave(draft: Draft, isSecond: boolean): void {
		if (isSecond) {
			this.#parts.leave();
			return;
		}
		this.#isLeaving = true;
		this.#parts.interrupt();
		this.#clear(draft);
		this.#set({ hint: "Press Ctrl-C again to leave." });
	}

	#edit(edit: Parameters<typeof edited>[1]): void {
		this.#set({ draft: edited(this.#composed.draft, edit, this.#parts.history.texts), hint: "" });
	}

	#send(draft: Draft): void {
		// A line that ends with a backslash is continued.
		if (draft.text.at(draft.cursor - 1) === "\\" && draft.cursor === draft.text.length) {
			this.#set({ draft: { ...draft, text: `${draft.text.slice(0, -1)}\n` }, hint: "" });
			return;
		}
		const text = draft.text.trim();
		this.#set({ draft: emptyDraft, hint: "" });
		if (text === "") return;
		this.#parts.history.add(text);
		this.#parts.send(text);
	}

	/** Saves the typed text in the history, where Up recalls it. */
	#clear(draft: Draft): void {
		this.#parts.history.add(draft.text.trim());
		this.#set({ draft: emptyDraft, hint: "" });
	}

	async #complete(draft: Draft): Promise<void> {
		const word = /(?:^\/|@)\S*$/.exec(draft.text.slice(0, draft.cursor))?.[0];
		if (word === undefined) return;
		const found = await this.#parts.complete(word).catch(() => []);
		// Typing continues undisturbed.
		if (this.#composed.draft !== draft) return;
		const common = commonStart(found);
		const put = found.length === 1 ? `${common} ` : common;
		const start = draft.cursor - word.length + 1;
		const text =
			found.length === 0 ? draft.text : draft.text.slice(0, start) + put + draft.text.slice(draft.cursor);
		const cursor = found.length === 0 ? draft.cursor : start + put.length;
		this.#set({
			draft: { ...draft, text, cursor },
			hint: found.length > 1 ? found.slice(0, 8).join("  ") : "",
		});
	}

	#set(composed: Partial<Composed>): void {
		this.#composed = { ...this.#composed, ...composed };
		for (const changed of [...this.#listeners]) changed();
	}
}

function commonStart(words: readonly string[]): string {
	const [first = "", ...others] = words;
	let length = first.length;
	for (const other of others) while (!other.startsWith(first.slice(0, length))) length--;
	return first.slice(0, length);
}
