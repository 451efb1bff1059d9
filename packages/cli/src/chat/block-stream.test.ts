import fc from "fast-check";
import { expect, test } from "vitest";
import { type Block, BlockStream } from "./block-stream.ts";

function blocksOf(pieces: readonly string[]): readonly Block[] {
	const stream = new BlockStream();
	return [...pieces.flatMap((piece) => stream.push(piece)), ...stream.end()];
}

test("paragraphs end at an empty line, code is cut line by line", () => {
	expect(blocksOf(["One\ntwo\n\n```js\na\n\nb\n```\nend"])).toEqual([
		"One\ntwo\n",
		{ code: "a", language: "js", before: "" },
		{ code: "", language: "js", before: "a\n" },
		{ code: "b", language: "js", before: "a\n\n" },
		"\n",
		"end",
	]);
});

test("the blocks are the same for any split of the text, and no word is lost", () => {
	const text = fc.array(
		fc.constantFrom("word", "\n", "\n\n", "```\n", "~~~~\n", "  ", "- item", "````js\n"),
		{
			maxLength: 40,
		},
	);
	fc.assert(
		fc.property(text, fc.array(fc.nat({ max: 60 }), { maxLength: 8 }), (parts, cuts) => {
			const whole = parts.join("");
			const places = [...new Set(cuts.map((cut) => Math.min(cut, whole.length)))].sort((a, b) => a - b);
			const pieces = [0, ...places].map((from, index) => whole.slice(from, places[index] ?? whole.length));
			expect(blocksOf(pieces)).toEqual(blocksOf([whole]));
			const words = (given: string): number => given.split("word").length;
			const shown = blocksOf(pieces).map((block) => (typeof block === "string" ? block : block.code));
			expect(words(shown.join("\n"))).toBeGreaterThanOrEqual(words(whole));
		}),
	);
});

test("emitted parts are not kept: the tail of a long answer stays short", () => {
	const stream = new BlockStream();
	let longest = 0;
	for (let line = 0; line < 10_000; line++) {
		stream.push(`line ${line}\n`);
		longest = Math.max(longest, (stream.tail as string).length);
	}
	expect(longest).toBeLessThan(3_000);
});
