import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { writtenRows } from "./written-rows.ts";

const shown = (text: string, cursor: number, width: number, most: number) =>
	writtenRows(text, cursor, width, most).rows.map((row) =>
		row.replace("\u001b[7m", "[").replace("\u001b[27m", "]"),
	);

test("shows lines and a cursor, which has its own row at the end of a full one", () => {
	expect(shown("one\ntwo", 7, 10, 8)).toEqual(["one", "two[ ]"]);
	expect(shown("one\ntwo", 3, 10, 8)).toEqual(["one[ ]", "two"]);
	expect(shown("", 0, 10, 8)).toEqual(["[ ]"]);
	expect(shown("abcd", 4, 4, 8)).toEqual(["abcd", "[ ]"]);
	expect(shown("\n", 0, 4, 8)).toEqual(["[ ]", ""]);
	expect(shown("日本語", 1, 4, 8)).toEqual(["日[本]", "語"]);
	expect(shown("a\u001bb", 1, 8, 8)).toEqual(["a[␛]b"]);
});

test("a paste of any size takes no more rows than there are, around the cursor, and no more time", () => {
	const pastes = [
		"x".repeat(1_000_000),
		"word ".repeat(200_000),
		"line\n".repeat(200_000),
		"👩".repeat(500_000),
	];
	const began = performance.now();
	for (const paste of pastes)
		for (const cursor of [0, 1, paste.length / 2, paste.length]) {
			const { rows, above, isFromStart } = writtenRows(paste, cursor, 20, 8);
			expect(rows).toHaveLength(8);
			for (const row of rows) expect(stripVTControlCharacters(row).length).toBeLessThan(20 * 11);
			expect(rows.join("")).toContain("\u001b[7m");
			expect([cursor, isFromStart, above === ""]).toEqual([cursor, cursor < 2, cursor < 2]);
		}
	expect(performance.now() - began).toBeLessThan(2_000);
	expect(writtenRows("line\n".repeat(100), 500, 20, 8).above).toBe("… 93 lines above");
	expect(writtenRows("x".repeat(1_000), 1_000, 20, 8).above).toBe("… more above");
});
