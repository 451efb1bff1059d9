import fc from "fast-check";
import { memoryHost } from "holdfast";
import { describe, expect, test } from "vitest";
import { expectProportion } from "../../../../test/shared/in-proportion.fixture.ts";
import { shownResult } from "./shown-result.ts";
import { lineAt, openResult, readCharacters, startOfLine, storeResult } from "./stored-result.ts";

const filesOf = () => memoryHost().files.of("s", "large-results");
const letters = fc.constantFrom("a", "\n", "é", "😀", "\uFEFF", "\r\n");

describe("stored results", () => {
	test("return the same characters and lines as the text", async () => {
		const files = filesOf();
		const part = fc.record({
			text: fc.array(letters, { maxLength: 9 }),
			repeated: fc.constantFrom(1, 7_000, 65_535),
		});
		await fc.assert(
			fc.asyncProperty(fc.array(part, { maxLength: 4 }), fc.nat(), fc.nat(), async (parts, one, other) => {
				const text = parts.map(({ text: given, repeated }) => given.join("").repeat(repeated)).join("");
				await storeResult(files, "id", text);
				const stored = await openResult(files, "id");
				const lines = text.split("\n");
				expect(stored).toMatchObject({ characters: text.length, lines: lines.length });
				const [from, until] = [one % (text.length + 2), other % (text.length + 2)];
				expect((await readCharacters(files, stored, from, until)).text).toBe(
					text.slice(from, Math.max(from, until)),
				);
				const line = (one % lines.length) + 1;
				const start = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
				expect(await startOfLine(files, stored, line)).toBe(start);
				expect(await lineAt(files, stored, start)).toBe(line);
			}),
			{ numRuns: 60 },
		);
	});

	test("of 50 MB are read at their end without the text before it", async () => {
		const files = filesOf();
		const text = `${"x".repeat(99)}\n`.repeat(500_000);
		await storeResult(files, "id", text);
		let read = 0;
		const counting = {
			...files,
			async *read(name: string, range?: object) {
				for await (const piece of files.read(name, range)) {
					read += piece.length;
					yield piece;
				}
			},
		};
		const stored = await openResult(counting, "id");
		const start = await startOfLine(counting, stored, 499_999);
		expect((await readCharacters(counting, stored, start, start + 1_000)).text).toHaveLength(200);
		expect(read).toBeLessThan(1_500_000);
		expect(shownResult("id", text, { head: 4_000, tail: 2_000 }).length).toBeLessThan(6_300);
	});

	test("are stored in linear time", async () => {
		await expectProportion(16_000_000, (size) => {
			const files = filesOf();
			const text = "some text\n".repeat(size / 10);
			return () => storeResult(files, "id", text);
		});
	});
});
