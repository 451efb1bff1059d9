import fc from "fast-check";
import { expect, test } from "vitest";
import { emptyDraft } from "./editor.ts";
import { type Choice, menuOf, movedBy, triggerOf } from "./menu.ts";
import { menuLines } from "./menu-lines.ts";
import { makePaint } from "./paint.ts";

const at = (text: string, cursor: number = text.length) => triggerOf({ ...emptyDraft, text, cursor });
const choice = (label: string, detail = ""): Choice => ({ text: label, label, detail });

test("a slash at the beginning lists commands and their arguments; a path does not", () => {
	expect(at("/he")).toMatchObject({ kind: "command", word: "he", from: 0 });
	expect(at("/model gpt 5")).toMatchObject({ kind: "argument", command: "model", word: "gpt 5", from: 7 });
	for (const text of ["/etc/hosts", "a /he", "say /", "/Help", "/model a\nb"])
		expect(at(text)).toBeUndefined();
	expect(at("/model gpt", 8)).toBeUndefined();
});

test("@ lists files and # sessions, at the beginning of a word only", () => {
	expect(at("see @src/a")).toMatchObject({ kind: "file", word: "src/a", from: 4 });
	expect(at('("@my')).toMatchObject({ kind: "file", word: "my", from: 2 });
	expect(at("#chat-1 and", 7)).toMatchObject({ kind: "session", word: "chat-1", from: 0 });
	for (const text of ["ann@example.com", "C#", "@a b", "a#1"]) expect(at(text)).toBeUndefined();
});

test("for any input, a choice replaces only the word before the cursor", () => {
	const unit = fc.constantFrom("a", " ", "/", "@", "#", "\n", '"', "日", "😀");
	fc.assert(
		fc.property(fc.string({ unit, maxLength: 30 }), fc.nat(), (text, place) => {
			const cursor = place % (text.length + 1);
			const trigger = at(text, cursor);
			if (trigger === undefined) return;
			expect(trigger.from).toBeLessThanOrEqual(cursor);
			expect(text.slice(trigger.from, cursor)).not.toContain("\n");
			expect(text.slice(trigger.from, cursor).endsWith(trigger.word)).toBe(true);
		}),
	);
});

test("a very long word opens no menu", () => {
	expect(at(`@${"a".repeat(1_000_000)}`)).toBeUndefined();
	expect(at(`/${"a".repeat(1_000_000)}`)).toBeUndefined();
});

test("choices that start with the word come first, then those that contain it, then those with its letters in order", () => {
	const trigger = { kind: "file", from: 0, word: "menu", command: "" } as const;
	const all = ["m/e/n/u", "chat/menu.ts", "menu.md", "a/submenu"].map((label) => choice(label));
	const { fitting } = menuOf(trigger, "open", [...all, choice("x", "the menu"), choice("other")]);
	expect(fitting.map(({ label }) => label)).toEqual(["menu.md", "chat/menu.ts", "a/submenu", "x", "m/e/n/u"]);
});

test("only a closed menu selects its first choice, and the selection wraps around", () => {
	const trigger = { kind: "command", from: 0, word: "", command: "" } as const;
	const all = [choice("a"), choice("b")];
	const open = menuOf(trigger, "open", all);
	expect(open.selected).toBe(-1);
	expect(movedBy(open, 1).selected).toBe(0);
	expect(movedBy(open, -1).selected).toBe(1);
	const closed = menuOf(trigger, "closed", all);
	expect(closed.selected).toBe(0);
	expect(movedBy(closed, -1).selected).toBe(1);
	expect(movedBy(movedBy(closed, 1), 1).selected).toBe(0);
	expect(menuOf(trigger, "closed", []).selected).toBe(-1);
});

test("lines fit into the terminal, also with wide characters, and no choice can control it", () => {
	const trigger = { kind: "file", from: 0, word: "", command: "" } as const;
	const all = [
		choice("日本語".repeat(20), "説明".repeat(40)),
		choice("a\u001b[2Jb", "c\u0007d"),
		choice("plain"),
	];
	for (const columns of [20, 40, 100]) {
		const lines = menuLines(menuOf(trigger, "closed", all), { paint: makePaint("none"), columns, rows: 8 });
		for (const line of lines) {
			// Counts a wide character as two columns.
			expect([...line].reduce((sum, each) => sum + (/[\u2e80-\uffff]/.test(each) ? 2 : 1), 0)).toBeLessThan(
				columns,
			);
			// biome-ignore lint/suspicious/noControlCharactersInRegex: control codes are what is looked for
			expect(line).not.toMatch(/[\u0000-\u001f]/);
		}
	}
});

test("the lines around the selected choice are shown", () => {
	const trigger = { kind: "command", from: 0, word: "", command: "" } as const;
	let menu = menuOf(
		trigger,
		"closed",
		Array.from({ length: 30 }, (_, index) => choice(`c${index}`)),
	);
	for (let step = 0; step < 20; step++) menu = movedBy(menu, 1);
	const lines = menuLines(menu, { paint: makePaint("none"), columns: 80, rows: 5 });
	expect(lines).toHaveLength(6);
	expect(lines[2]).toMatch(/^❯ c20/);
	expect(lines[5]).toContain("21 of 30");
});
