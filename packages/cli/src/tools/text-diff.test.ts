import fc from "fast-check";
import { expect, test } from "vitest";
import { type DiffHunk, diffTexts } from "./text-diff.ts";

/** Derives the second text from the first by the hunks, and checks the hunks against the first. */
function apply(text: string, hunks: readonly DiffHunk[]): string {
	const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
	const made: string[] = [];
	let at = 0;
	for (const { beforeStart, beforeCount, afterStart, afterCount, lines: shown } of hunks) {
		const start = beforeCount === 0 ? beforeStart : beforeStart - 1;
		made.push(...lines.slice(at, start));
		expect(made.length).toBe(afterCount === 0 ? afterStart : afterStart - 1);
		const old = shown.filter(({ mark }) => mark !== "+").map((line) => line.text);
		const fresh = shown.filter(({ mark }) => mark !== "-").map((line) => line.text);
		expect([old.length, fresh.length]).toEqual([beforeCount, afterCount]);
		expect(lines.slice(start, start + beforeCount)).toEqual(old);
		made.push(...fresh);
		at = start + beforeCount;
	}
	return [...made, ...lines.slice(at)].join("");
}

const edits = (hunks: readonly DiffHunk[]): number =>
	hunks.flatMap(({ lines }) => lines).filter(({ mark }) => mark !== " ").length;

/** The fewest lines to remove and add, by the textbook's table. */
function fewest(before: readonly string[], after: readonly string[]): number {
	const table = before.map(() => after.map(() => 0));
	const common = (i: number, j: number): number => table[i]?.[j] ?? 0;
	for (const [i, left] of before.entries())
		for (const [j, right] of after.entries())
			(table[i] as number[])[j] =
				left === right ? common(i - 1, j - 1) + 1 : Math.max(common(i - 1, j), common(i, j - 1));
	return before.length + after.length - 2 * common(before.length - 1, after.length - 1);
}

const someText = fc
	.tuple(
		fc.array(fc.constantFrom("a\n", "b\n", "c\n", "\n"), { maxLength: 40 }),
		fc.constantFrom("", "a", "end"),
	)
	.map(([lines, end]) => lines.join("") + end);

test("the hunks turn the first text into the second, with as few lines as possible, for any texts", () => {
	fc.assert(
		fc.property(someText, someText, (before, after) => {
			const hunks = diffTexts(before, after);
			expect(apply(before, hunks)).toBe(after);
			const lines = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
			expect(edits(hunks)).toBe(fewest(lines(before), lines(after)));
		}),
		{ numRuns: 400 },
	);
});

test("equal texts have no hunks, and separate changes have one each, with three lines around", () => {
	const text = Array.from({ length: 40 }, (_, index) => `line ${index + 1}\n`).join("");
	expect(diffTexts(text, text)).toEqual([]);
	const hunks = diffTexts(text, text.replace("line 5\n", "five\n").replace("line 30\n", ""));
	expect(hunks.map(({ lines: _, ...place }) => place)).toEqual([
		{ beforeStart: 2, beforeCount: 7, afterStart: 2, afterCount: 7 },
		{ beforeStart: 27, beforeCount: 7, afterStart: 27, afterCount: 6 },
	]);
	expect(diffTexts("", "a\nb\n")[0]).toMatchObject({ beforeStart: 0, afterStart: 1, afterCount: 2 });
});

test("texts without a common line are compared within limits", () => {
	const many = (word: string): string =>
		Array.from({ length: 30_000 }, (_, index) => `${word} ${index}\n`).join("");
	const started = process.cpuUsage();
	const hunks = diffTexts(many("old"), many("new"));
	expect(apply(many("old"), hunks)).toBe(many("new"));
	expect(process.cpuUsage(started).user / 1_000).toBeLessThan(3_000);
});
