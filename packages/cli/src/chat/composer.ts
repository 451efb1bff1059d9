/**
 * The user's side of a chat: typing, menus, history, interrupting and leaving. A separate store, so that the screen is a
 * function of this and the transcript.
 *
 * writing ── a word opens a menu ──▶ menu ── Enter, Tab or Esc ──▶ writing
 *    └────── Ctrl-R ──▶ searching (a menu of earlier inputs) ── Enter or Esc ──▶ writing
 */
import type { Question, Transcript } from "./chat-transcript.ts";
import { type Draft, edited, emptyDraft } from "./editor.ts";
import type { History } from "./history.ts";
import type { KeyAction } from "./keys.ts";
import {
	answerMenu,
	type Choice,
	isSameMenu,
	type Menu,
	menuOf,
	movedBy,
	type Trigger,
	triggerOf,
} from "./menu.ts";

/** The state that the composer renders. */
export interface Composed {
	readonly draft: Draft;
	/** The line below the draft, such as a reminder that Ctrl-C again leaves. */
	readonly hint: string;
	readonly menu: Menu | undefined;
}

/** The choices of a word; undefined if there is no menu for it. */
export type Choices =
	| { readonly form: Menu["form"]; readonly choices: readonly Choice[] | Promise<readonly Choice[]> }
	| undefined;

export interface ComposerParts {
	readonly history: History;
	/** Accepts the submitted text. */
	send(text: string): void;
	/** Interrupts the run; returns whether there was one to interrupt. */
	interrupt(): boolean;
	leave(): void;
	/** Gives the terminal back to the shell, which can continue the chat. */
	suspend(): void;
	/** Takes back the last message that the run has not received; undefined if there is none. */
	recall(): string | undefined;
	/** Returns the mention of the clipboard's image; undefined if there is none. */
	pasteImage(): Promise<string | undefined>;
	/** Returns the menu of a word. */
	choices(trigger: Trigger): Choices;
	/** The store of the pending question. */
	readonly transcript: Pick<Transcript, "live" | "subscribe">;
}

export class Composer {
	readonly #parts: ComposerParts;
	readonly #listeners = new Set<() => void>();
	#composed: Composed = { draft: emptyDraft, hint: "", menu: undefined };
	/** Whether Ctrl-C was the last key. */
	#isLeaving = false;
	/** The word whose menu the user closed. */
	#closed: Trigger | undefined;
	/** The choices that were requested last. */
	#loading: { readonly trigger: Trigger; readonly loading: Promise<void> } | undefined;
	/** The question that the draft answers, and the draft that it set aside. */
	#question: { readonly asked: Question; readonly before: Draft } | undefined;
	/** The draft before a search in the history; undefined outside a search. */
	#beforeSearch: Draft | undefined;

	constructor(parts: ComposerParts) {
		this.#parts = parts;
		parts.transcript.subscribe(() => this.#turnToQuestion());
		// A resumed session may already wait for an answer.
		this.#turnToQuestion();
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
		if (this.#actInMenu(action)) return;
		if (action.type === "send") this.#send(draft);
		else if (action.type === "complete") void this.#complete();
		else if (action.type === "up" && draft.text === "" && draft.past === 0) this.#recall(draft);
		else if (action.type === "search") this.#search(draft);
		else if (action.type === "paste-image") void this.#pasteImage();
		else if (action.type === "suspend") this.#parts.suspend();
		else if (action.type === "leave") this.#leave(draft, wasLeaving);
		else if (action.type === "interrupt") {
			if (!this.#parts.interrupt()) this.#clear(draft);
		} else if (action.type === "end-of-input") {
			if (draft.text === "") this.#parts.leave();
			else this.#edit({ type: "delete" });
		} else if (!isViewing(action)) this.#edit(action);
	}

	/** Handles a key that belongs to the open menu; returns whether it did. */
	#actInMenu(action: KeyAction): boolean {
		const { menu } = this.#composed;
		if (menu === undefined) return false;
		switch (action.type) {
			case "up":
			case "down":
				if (menu.fitting.length === 0) return false;
				this.#set({ menu: movedBy(menu, action.type === "up" ? -1 : 1) });
				return true;
			case "search":
				if (this.#beforeSearch !== undefined) this.#set({ menu: movedBy(menu, 1) });
				return this.#beforeSearch !== undefined;
			case "interrupt":
				// A question has no other menu to return to: its run is interrupted.
				if (menu.trigger.kind === "question") return false;
				this.#closed = menu.trigger;
				this.#endSearch(this.#beforeSearch ?? this.#composed.draft);
				return true;
			case "send": {
				const choice = menu.fitting[menu.selected];
				if (this.#beforeSearch === undefined && (choice === undefined || isTyped(this.#composed, choice)))
					return false;
				this.#accept(choice, "enter");
				return true;
			}
			default:
				return false;
		}
	}

	/** Puts a choice into the draft. Enter sends it, unless it continues: a path, or a command with an argument. */
	#accept(choice: Choice | undefined, key: "enter" | "tab"): void {
		const { draft, menu } = this.#composed;
		if (choice === undefined || menu === undefined) {
			this.#endSearch(draft);
			return;
		}
		const { from, kind } = menu.trigger;
		const text = draft.text.slice(0, from) + choice.text + draft.text.slice(draft.cursor);
		const taken = { ...emptyDraft, text, cursor: from + choice.text.length };
		if (kind === "question" && key === "enter") {
			this.#send(taken);
			return;
		}
		if (kind === "history") {
			this.#endSearch(taken);
			return;
		}
		if (key === "enter" && (kind === "command" || kind === "argument") && !choice.text.endsWith(" ")) {
			this.#send(taken);
			return;
		}
		this.#set({ draft: taken, hint: "" });
		this.#openMenu();
	}

	/** A message that waits can be edited; otherwise Up recalls earlier inputs. */
	#recall(draft: Draft): void {
		const text = this.#question === undefined ? this.#parts.recall() : undefined;
		if (text === undefined) this.#edit({ type: "up" });
		else this.#set({ draft: { ...draft, text, cursor: text.length }, hint: "" });
	}

	async #pasteImage(): Promise<void> {
		const text = await this.#parts.pasteImage();
		if (text !== undefined) this.#edit({ type: "insert", text });
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
		const draft = edited(this.#composed.draft, edit, this.#parts.history.texts);
		// Up and Down leave a recalled input again, so no menu takes these keys.
		if (draft.past !== this.#composed.draft.past) this.#closed = triggerOf(draft);
		this.#set({ draft, hint: "" });
		this.#openMenu();
	}

	#send(draft: Draft): void {
		// A line that ends with a backslash is continued.
		if (draft.text.at(draft.cursor - 1) === "\\" && draft.cursor === draft.text.length) {
			this.#set({ draft: { ...draft, text: `${draft.text.slice(0, -1)}\n` }, hint: "" });
			return;
		}
		const text = draft.text.trim();
		const isAnswer = this.#question !== undefined;
		if (isAnswer && text === "") return;
		this.#empty();
		if (text === "") return;
		if (!isAnswer) this.#parts.history.add(text);
		this.#parts.send(text);
	}

	/** Saves the typed text in the history, where Up recalls it. */
	#clear(draft: Draft): void {
		if (this.#question === undefined) this.#parts.history.add(draft.text.trim());
		this.#empty();
	}

	#empty(): void {
		this.#beforeSearch = undefined;
		this.#closed = undefined;
		this.#set({ draft: emptyDraft, hint: "", menu: undefined });
	}

	/** Takes the selected choice, otherwise the first one, as soon as the choices are known. */
	async #complete(): Promise<void> {
		if (this.#composed.menu === undefined) {
			this.#closed = undefined;
			this.#openMenu();
		}
		const { draft, menu } = this.#composed;
		if (menu === undefined) return;
		if (menu.all === undefined) await this.#loaded(menu);
		const { menu: now } = this.#composed;
		// Typing continues undisturbed.
		if (now === undefined || this.#composed.draft !== draft) return;
		const choice = now.fitting[Math.max(0, now.selected)];
		if (choice !== undefined) this.#accept(choice, "tab");
	}

	/** A question gets an empty draft, so that text typed for something else answers nothing; that text returns later. */
	#turnToQuestion(): void {
		const { question } = this.#parts.transcript.live;
		if (question === this.#question?.asked) return;
		const before = this.#question?.before ?? this.#beforeSearch ?? this.#composed.draft;
		this.#question = question === undefined ? undefined : { asked: question, before };
		this.#empty();
		const { draft: text } = question ?? { draft: "" };
		this.#set({ draft: question === undefined ? before : { ...emptyDraft, text, cursor: text.length } });
		this.#openMenu();
	}

	/** Opens the menu of the word at the cursor, and closes that of another one. */
	#openMenu(): void {
		const { draft, menu } = this.#composed;
		if (this.#question !== undefined) {
			this.#set({ menu: answerMenu(this.#question.asked.choices, draft) });
			return;
		}
		const trigger = this.#beforeSearch === undefined ? triggerOf(draft) : searchOf(draft);
		if (trigger === undefined || isSameMenu(trigger, this.#closed)) {
			if (trigger === undefined) this.#closed = undefined;
			if (menu !== undefined) this.#set({ menu: undefined });
			return;
		}
		this.#closed = undefined;
		if (menu !== undefined && isSameMenu(trigger, menu.trigger)) {
			this.#set({ menu: menuOf(trigger, menu.form, menu.all) });
			return;
		}
		const offered: Choices =
			this.#beforeSearch === undefined ? this.#parts.choices(trigger) : this.#earlier();
		if (offered === undefined) {
			this.#set({ menu: undefined });
			return;
		}
		const { form, choices } = offered;
		if (!(choices instanceof Promise)) {
			this.#set({ menu: menuOf(trigger, form, choices) });
			return;
		}
		const opened = menuOf(trigger, form, undefined);
		this.#set({ menu: opened });
		const loading = choices.catch((): readonly Choice[] => []).then((all) => this.#load(trigger, all));
		this.#loading = { trigger, loading };
	}

	#loaded({ trigger }: Menu): Promise<void> {
		return isSameMenu(this.#loading?.trigger, trigger)
			? (this.#loading?.loading ?? Promise.resolve())
			: Promise.resolve();
	}

	#load(trigger: Trigger, all: readonly Choice[]): void {
		const { menu } = this.#composed;
		if (menu !== undefined && isSameMenu(menu.trigger, trigger))
			this.#set({ menu: menuOf(menu.trigger, menu.form, all) });
	}

	/** Searches the history for the typed text. */
	#search(draft: Draft): void {
		if (this.#question !== undefined) return;
		this.#beforeSearch = draft;
		this.#closed = undefined;
		this.#set({ draft: { ...draft, cursor: draft.text.length }, hint: "", menu: undefined });
		this.#openMenu();
	}

	#endSearch(draft: Draft): void {
		this.#beforeSearch = undefined;
		this.#closed ??= triggerOf(draft);
		this.#set({ draft, hint: "", menu: undefined });
	}

	#earlier(): Choices {
		const texts = [...new Set(this.#parts.history.texts.toReversed())];
		return { form: "closed", choices: texts.map((text) => ({ text, label: text, detail: "" })) };
	}

	#set(composed: Partial<Composed>): void {
		this.#composed = { ...this.#composed, ...composed };
		for (const changed of [...this.#listeners]) changed();
	}
}

/** Whether a key has a meaning only while a text is open. */
function isViewing(
	action: KeyAction,
): action is Extract<KeyAction, { type: "open" | "page-up" | "page-down" }> {
	return action.type === "open" || action.type === "page-up" || action.type === "page-down";
}

/** A search compares the whole draft. */
function searchOf({ text }: Draft): Trigger {
	return { kind: "history", from: 0, word: text, command: "" };
}

/** Whether the draft contains a choice already, so that Enter sends it. */
function isTyped({ draft, menu }: Composed, choice: Choice): boolean {
	return draft.text.slice(menu?.trigger.from, draft.cursor) === choice.text.trimEnd();
}
