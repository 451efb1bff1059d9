import { stripVTControlCharacters, styleText } from "node:util";
import { expect, test } from "vitest";
import { wrapped } from "./wrapped.ts";

test("no row starts with the space at which its line was broken, and none is wider than the terminal", () => {
	const rows = wrapped(`${"word ".repeat(40)}end`, 80).split("\n");
	expect(rows.map((row) => row.length)).toEqual([79, 79, 43]);
	for (const row of rows) expect(row).toMatch(/^\S.*\S$/);
});

test("rows of an item are indented, spaces within a line stay, and a word that is too long has its own row", () => {
	expect(wrapped("  • one two three\n12. one two\na  b c\nan incomprehensible word", 9)).toBe(
		"  • one\n    two\n    three\n12. one\n    two\na  b c\nan\nincomprehensible\nword",
	);
});

test("colours have no width, and wide letters have two columns", () => {
	const red = styleText("red", "one two", { validateStream: false });
	expect(stripVTControlCharacters(wrapped(`${red} three`, 13))).toBe("one two three");
	expect(wrapped("日本 日本", 8)).toBe("日本\n日本");
});
