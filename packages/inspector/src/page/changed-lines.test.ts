import * as fc from "fast-check";
import { expect, test } from "vitest";
import { changedLines, changedWords } from "./changed-lines.ts";

test("a change consists of the removed and the added text, with the unchanged text around it", () => {
	expect(changedLines("a\nb\nc\nd", "a\nB\nc\ne\nd").map(({ kind, line }) => `${kind} ${line}`)).toEqual([
		"same a",
		"removed b",
		"added B",
		"same c",
		"added e",
		"same d",
	]);
	expect(changedLines("same", "same")).toEqual([{ kind: "same", line: "same" }]);
});

test("without the added text it is the old text, and without the removed text the new one", () => {
	const text = fc
		.array(fc.constantFrom("a", "b", "c", ""), { maxLength: 12 })
		.map((lines) => lines.join("\n"));
	fc.assert(
		fc.property(text, text, (before, after) => {
			const lines = changedLines(before, after);
			const without = (kind: string): string =>
				lines
					.filter((each) => each.kind !== kind)
					.map(({ line }) => line)
					.join("\n");
			expect([without("added"), without("removed")]).toEqual([before, after]);
		}),
	);
});

test("two long texts with nothing in common are changed as a whole, immediately", () => {
	const long = (of: string): string => Array.from({ length: 20_000 }, (_, at) => `${of} ${at}`).join("\n");
	expect(changedLines(long("a"), long("b"))).toHaveLength(40_000);
});

test("changed words join to both texts, whatever separates them", () => {
	const text = fc
		.array(fc.constantFrom("a", "b", " ", "\n", "\t\t", "é"), { maxLength: 14 })
		.map((parts) => parts.join(""));
	fc.assert(
		fc.property(text, text, (before, after) => {
			const words = changedWords(before, after);
			const without = (kind: string): string =>
				words.flatMap((each) => (each.kind === kind ? [] : [each.line])).join("");
			expect([without("added"), without("removed")]).toEqual([before, after]);
		}),
	);
	expect(
		changedWords("paid 49 dollars", "paid 12 dollars").map(({ kind, line }) => `${kind} ${line}`),
	).toEqual(["same paid ", "removed 49 ", "added 12 ", "same dollars"]);
});
