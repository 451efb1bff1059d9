import { expect, test } from "vitest";
import { shownToModel } from "./shown-to-model.ts";

const note = (shown: string, whole: string, advice = "Ask for a smaller part to see more.") =>
	`[cut: ${shown} of ${whole} characters shown; the whole output is kept in the session. ${advice}]`;

test("a result is shown whole unless the tool has a shorter limit", () => {
	const result = { text: "a".repeat(1000) };
	expect(shownToModel({ maxModelCharacters: Number.POSITIVE_INFINITY }, result)).toEqual({
		result,
		cut: false,
	});
	expect(shownToModel({ maxModelCharacters: 4 }, "four")).toEqual({ result: "four", cut: false });
	expect(shownToModel({ maxModelCharacters: 1011 }, result).result).toBe(result);
});

test("a longer one is cut near the end of a line, with a note", () => {
	const lines = `${"x".repeat(9)}\n`.repeat(120_000);
	const { result, cut } = shownToModel({ maxModelCharacters: 20_005 }, lines);
	expect(cut).toBe(true);
	const shown = lines.slice(0, 19_999);
	expect(result).toBe(`${shown}\n${note("19,999", "1,200,000")}`);
});

test("one without lines is cut at the limit, never inside a character", () => {
	expect(shownToModel({ maxModelCharacters: 4 }, "abcdefgh").result).toBe(`abcd\n${note("4", "8")}`);
	expect(shownToModel({ maxModelCharacters: 4 }, "abc👍👍").result).toBe(`abc\n${note("3", "7")}`);
	expect(shownToModel({ maxModelCharacters: 10 }, `a\n${"b".repeat(20)}`).result).toMatch(/^a\nb{8}\n\[cut/);
});

test("JSON is cut as text, and the tool can explain how to read on", () => {
	const tool = {
		maxModelCharacters: 6,
		readOn: (result: unknown) => `There are ${(result as []).length} items.`,
	};
	expect(shownToModel(tool, [100, 200, 300])).toEqual({
		result: `[100,2\n${note("6", "13", "There are 3 items.")}`,
		cut: true,
	});
});
