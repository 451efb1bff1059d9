import fc from "fast-check";
import { expect, test } from "vitest";
import { renderMarkdown } from "./markdown.ts";
import { makePaint } from "./paint.ts";

const plain = (text: string, columns = 80): string => renderMarkdown(text, makePaint("none"), columns);

test("is shown without its markup", () => {
	expect(plain("# Head\n\nSome **bold**, *soft*, ~~gone~~ `code` and [a link](https://a.example).")).toBe(
		"Head\nSome bold, soft, gone code and a link (https://a.example).",
	);
	expect(plain("1. one\n2. two\n   - inner\n- [x] done")).toBe("1. one\n2. two\n   • inner\n• [x] done");
	expect(plain("> said\n> so")).toBe("│ said\n│ so");
	expect(plain("```js\nconst a = 1;\n```")).toBe("  const a = 1;");
	expect(plain("A heading\n--------------\n\n**one**")).toBe("A heading\none");
	expect(plain("![A cat](cat.png) &lt; <b>raw</b>")).toContain("[image: A cat]");
});

test("tables are columns if there is space, and lines otherwise", () => {
	const table = "| name | size |\n|---|---|\n| a | 日本 |\n| bb | 2 |";
	expect(plain(table)).toBe("name │ size\n─────┼─────\na    │ 日本\nbb   │ 2");
	expect(plain(table, 8)).toBe("• name: a\n  size: 日本\n• name: bb\n  size: 2");
});

test("styles are control codes only if there are colours", () => {
	expect(renderMarkdown("**bold**", makePaint("dark"), 80)).toBe("\u001b[1mbold\u001b[22m");
	expect(plain("**bold**\n\n# h\n`c`")).not.toContain("\u001b");
});

test("no text of a model controls the terminal, is lost, or costs more than linear time", () => {
	expect(plain("a\u001b[2Jb")).toBe("ab");
	const parts = fc.constantFrom(
		"word",
		"*",
		"**",
		"`",
		"[",
		"](",
		")",
		"> ",
		"- ",
		"1. ",
		"#",
		"|",
		"\n",
		"\n\n",
		"<",
		"&",
		"    ",
		"\u001b[31m",
	);
	fc.assert(
		fc.property(fc.array(parts, { maxLength: 60 }), (given) => {
			const text = given.join("");
			const shown = plain(text);
			// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not come through
			expect(shown).not.toMatch(/[\u0000-\u0008\u000b-\u001f]/);
		}),
	);
	for (const hostile of [
		"> ".repeat(3_900),
		"- ".repeat(3_900),
		"[".repeat(3_900),
		"*a ".repeat(2_500),
		"`".repeat(7_900),
	])
		expect(plain(hostile).length).toBeLessThan(200_000);
});
