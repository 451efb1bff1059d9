import { expect, test } from "vitest";
import { shownToModel } from "./shown-to-model.ts";

const note = (shown: string, whole: string, advice = "Ask for a smaller part to see more.") =>
	`[cut: ${shown} of ${whole} characters shown; the whole output is kept in the session. ${advice}]`;

test("a result is shown whole unless the tool has a shorter limit", () => {
	const result = { text: "a".repeat(1000) };
	expect(shownToModel({ maxModelCharacters: Number.POSITIVE_INFINITY }, result)).toEqual({ result });
	expect(shownToModel({ maxModelCharacters: 4 }, "four")).toEqual({ result: "four" });
	expect(shownToModel({ maxModelCharacters: 1011 }, result).result).toBe(result);
});

test("a longer one is cut near the end of a line, with a note", () => {
	const lines = `${"x".repeat(9)}\n`.repeat(120_000);
	const { result } = shownToModel({ maxModelCharacters: 20_005 }, lines);
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
	});
});

test("without a limit, one of more than 100,000 characters is cut in the middle, never inside a character", () => {
	const whole = "x".repeat(100_000);
	expect(shownToModel({ maxModelCharacters: undefined }, whole)).toEqual({ result: whole });
	const long = "👍".repeat(60_000);
	const { result, unlimited } = shownToModel(undefined, `a${long}`);
	expect(unlimited).toBe(120_001);
	expect(result).toBe(
		`a${"👍".repeat(39_999)}\n[cut: characters 79,999 to 100,001 of 120,001 are not shown; the whole output is kept in the session. Ask for a smaller part to see more.]\n${"👍".repeat(10_000)}`,
	);
});

test("files are neither counted nor cut", () => {
	const image = { type: "image", mimeType: "image/png", source: { type: "base64", data: "A".repeat(500) } };
	const both = [image, { type: "text", text: "abcdefgh" }];
	expect(shownToModel({ maxModelCharacters: 8 }, both)).toEqual({ result: both });
	expect(shownToModel({ maxModelCharacters: 4 }, both)).toEqual({
		result: [{ type: "text", text: `abcd\n${note("4", "8")}` }, image],
	});
});
