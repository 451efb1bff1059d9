import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { entryText } from "./entry-text.ts";
import { makePaint } from "./paint.ts";

const paint = makePaint("none");
const shown = (text: string): readonly string[] =>
	stripVTControlCharacters(entryText({ id: 1, kind: "user", text }, paint, 80))
		.trim()
		.split("\n");

test("of a long message, such as a pasted file, its beginning is shown, and how much follows", () => {
	const lines = shown("line\n".repeat(2_000));
	expect(lines).toHaveLength(21);
	expect(lines.at(-1)).toBe("  … 1,981 more lines");
	expect(shown("x".repeat(100_000)).at(-1)).toBe("  … 96,000 more characters");
	expect(shown("one\n".repeat(39).trim())).toHaveLength(39);
});

test("the line of a call keeps its arguments, and cuts its result first", () => {
	const call = { head: "refund order=A-7 euros=89", tail: ` · 742 ms · ${"result ".repeat(9)}` };
	const line = entryText({ id: 1, kind: "tool", isDone: true, mark: "✓", ...call }, paint, 47);
	expect(stripVTControlCharacters(line)).toMatch(/^✓ refund order=A-7 euros=89 +· 742 ms/);
});
