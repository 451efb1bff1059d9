import fc from "fast-check";
import { expect, test } from "vitest";
import { type Draft, type Edit, edited, emptyDraft } from "./editor.ts";

const after = (edits: readonly Edit[], history: readonly string[] = []): Draft =>
	edits.reduce((draft, edit) => edited(draft, edit, history), emptyDraft);
const write = (text: string): Edit => ({ type: "insert", text });
/** The text with its cursor as a bar. */
const shown = ({ text, cursor }: Draft): string => `${text.slice(0, cursor)}|${text.slice(cursor)}`;

test("a grapheme counts as one character", () => {
	expect(shown(after([write("a👩‍👩‍👧b"), { type: "left" }, { type: "backspace" }]))).toBe("a|b");
	expect(shown(after([write("👍🏽x"), { type: "home" }, { type: "right" }]))).toBe("👍🏽|x");
});

test("the cursor moves over words and lines, and deletes them", () => {
	expect(shown(after([write("one two three"), { type: "word-left" }, { type: "delete-word" }]))).toBe(
		"one |three",
	);
	expect(shown(after([write("one\ntwo"), { type: "up" }]))).toBe("one|\ntwo");
	expect(shown(after([write("one\ntwo"), { type: "home" }, { type: "backspace" }]))).toBe("one|two");
	expect(shown(after([write("one\ntwo"), { type: "up" }, { type: "delete-to-end" }]))).toBe("one|two");
	expect(shown(after([write("one\ntwo"), { type: "delete-to-start" }]))).toBe("one\n|");
});

test("Up and Down find earlier inputs, and return to the current one", () => {
	const history = ["first", "second"];
	const looked = after([write("new"), { type: "up" }, { type: "up" }], history);
	expect(shown(looked)).toBe("first|");
	expect(edited(looked, { type: "up" }, history)).toEqual(looked);
	expect(
		shown(after([write("new"), { type: "up" }, { type: "up" }, { type: "down" }, { type: "down" }], history)),
	).toBe("new|");
});

test("pasted text cannot control the terminal, and its line ends are normalised", () => {
	expect(after([write("a\r\nb\rc\u001b[2Jd\u0007\te")]).text).toBe("a\nb\nc[2Jd\te");
});

test("after any keys, the cursor is in the text and never within a character", () => {
	const edits: fc.Arbitrary<Edit> = fc.oneof(
		fc.string({ unit: fc.constantFrom("a", " ", "\n", "é", "👩‍👩‍👧", "日") }).map(write),
		fc
			.constantFrom(
				...([
					"backspace",
					"delete",
					"delete-word",
					"delete-to-start",
					"delete-to-end",
					"left",
					"right",
				] as const),
				...(["word-left", "word-right", "home", "end"] as const),
			)
			.map((type): Edit => ({ type })),
	);
	const characters = new Intl.Segmenter(undefined, { granularity: "grapheme" });
	fc.assert(
		fc.property(fc.array(edits, { maxLength: 30 }), (all) => {
			const { text, cursor } = after(all);
			const places = new Set([...characters.segment(text)].map(({ index }) => index)).add(text.length);
			expect(places.has(cursor)).toBe(true);
		}),
	);
});
