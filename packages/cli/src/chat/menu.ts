/**
 * The menu below the draft: which word at the cursor opens one, and which choices fit it. Pure.
 *
 * `open` menus complete words that may mean something else, such as `@someone`: nothing is selected until the user asks.
 * `closed` menus list everything that is valid, so Enter takes the first choice.
 */
import type { Draft } from "./editor.ts";

/** A line of a menu. */
export interface Choice {
	/** Replaces the typed word. */
	readonly text: string;
	readonly label: string;
	readonly detail: string;
}

/** The word that a menu completes. */
export interface Trigger {
	readonly kind: "command" | "argument" | "file" | "session" | "history" | "question";
	/** Position of the text that a choice replaces. */
	readonly from: number;
	/** The typed text to compare choices with. */
	readonly word: string;
	/** For an argument: the name of its command. */
	readonly command: string;
}

/** The choices of a menu. */
export interface Menu {
	readonly trigger: Trigger;
	readonly form: "open" | "closed";
	/** Undefined while they are being loaded. */
	readonly all: readonly Choice[] | undefined;
	/** The choices that fit, best first. */
	readonly fitting: readonly Choice[];
	/** Index in `fitting`; -1: none. */
	readonly selected: number;
}

/** Maximum number of choices that a menu offers. */
const MOST_CHOICES = 200;
/** A longer word opens no menu. */
const LONGEST_WORD = 200;

/** Returns the word at the cursor that opens a menu. */
export function triggerOf({ text, cursor }: Draft): Trigger | undefined {
	const line = text.slice(Math.max(0, cursor - LONGEST_WORD), cursor);
	if (cursor <= LONGEST_WORD && text.startsWith("/")) {
		const [, command = "", space, word = ""] = /^\/([a-z]*)(\s+)?([^\n]*)$/.exec(line) ?? [];
		if (line === `/${command}`) return { kind: "command", from: 0, word: command, command };
		if (space === undefined || cursor < text.length) return undefined;
		return { kind: "argument", from: command.length + 1 + space.length, word, command };
	}
	const [, sign, word = ""] = /(?:^|[\s("'`])([@#])("?[^\s"'`]*)$/.exec(line) ?? [];
	if (sign === undefined) return undefined;
	const kind = sign === "@" ? "file" : "session";
	return { kind, from: cursor - word.length - 1, word: word.replace(/^"/, ""), command: "" };
}

/** Whether two triggers are of the same word. */
export function isSameMenu(one: Trigger | undefined, other: Trigger | undefined): boolean {
	return (
		one !== undefined &&
		other !== undefined &&
		one.kind === other.kind &&
		one.from === other.from &&
		(one.kind === "command" || one.command === other.command)
	);
}

/** Returns the menu of a trigger with the choices that fit its word. */
export function menuOf(trigger: Trigger, form: Menu["form"], all: readonly Choice[] | undefined): Menu {
	const fitting = fittingChoices(all ?? [], trigger.word);
	return { trigger, form, all, fitting, selected: form === "closed" && fitting.length > 0 ? 0 : -1 };
}

/** Returns the menu of answers. It stays while the draft is empty or one of them, which is selected; other text needs none. */
export function answerMenu(choices: readonly Choice[], { text }: Draft): Menu | undefined {
	const word = text.trim().toLowerCase();
	const selected = choices.findIndex((choice) => choice.text === word);
	if (choices.length === 0 || (word !== "" && selected === -1)) return undefined;
	const trigger: Trigger = { kind: "question", from: 0, word, command: "" };
	return { trigger, form: "open", all: choices, fitting: choices, selected };
}

/** Moves the selection, around the ends. */
export function movedBy(menu: Menu, step: 1 | -1): Menu {
	const { length } = menu.fitting;
	const from = menu.selected === -1 && step === -1 ? 0 : menu.selected;
	return length === 0 ? menu : { ...menu, selected: (from + step + length) % length };
}

/** Returns the choices that contain the word, or its letters in order; those that start with it first. */
function fittingChoices(all: readonly Choice[], word: string): readonly Choice[] {
	const wanted = word.toLowerCase();
	const ranked = all.map((choice) => ({ choice, rank: rankOf(choice, wanted) }));
	return ranked
		.filter(({ rank }) => rank < 5)
		.sort((one, other) => one.rank - other.rank)
		.slice(0, MOST_CHOICES)
		.map(({ choice }) => choice);
}

function rankOf({ label, detail }: Choice, wanted: string): number {
	const name = label.toLowerCase();
	if (name.startsWith(wanted)) return 0;
	if (name.slice(name.lastIndexOf("/") + 1).startsWith(wanted)) return 1;
	if (name.includes(wanted)) return 2;
	if (detail.toLowerCase().includes(wanted)) return 3;
	return hasInOrder(name, wanted) ? 4 : 5;
}

function hasInOrder(name: string, wanted: string): boolean {
	let at = 0;
	for (const letter of wanted) {
		at = name.indexOf(letter, at) + 1;
		if (at === 0) return false;
	}
	return true;
}
