/** Code and changes are highlighted, and never changed. */
import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { BlockStream } from "./block-stream.ts";
import { highlight, loadHighlighter, piecesOfLine } from "./highlight.ts";
import { makePaint, paintChange } from "./paint.ts";

beforeAll(() => loadHighlighter());

const textOf = (lines: ReturnType<typeof highlight>): string =>
	lines.map((pieces) => pieces.map(({ text }) => text).join("")).join("\n");

test("a line that streams is highlighted by the lines before it", () => {
	const stream = new BlockStream();
	const lines = stream
		.push("```ts\n/* a\nconst b = 1;\n*/\nconst c = 2;\n")
		.flatMap((block) =>
			typeof block === "string" ? [] : [piecesOfLine(block.code, block.language, block.before)],
		);
	expect(lines.map(([first]) => first?.style)).toEqual(["comment", "comment", "comment", "keyword"]);
});

test("no code is changed by its highlighting, in any language", () => {
	const parts = fc.constantFrom(
		"const a",
		" = ",
		"`",
		'"',
		"'",
		"/*",
		"*/",
		"//",
		"\n",
		"<b>",
		"{",
		"}",
		"#",
		"é",
		"\t",
	);
	const languages = fc.constantFrom(
		"ts",
		"python",
		"html",
		"bash",
		"diff",
		"markdown",
		"json",
		"unknown",
		undefined,
	);
	fc.assert(
		fc.property(fc.array(parts, { maxLength: 40 }), languages, (given, language) => {
			expect(textOf(highlight(given.join(""), language))).toBe(given.join(""));
		}),
	);
});

test("a change shows its language and its changed words, and without colours only its text", () => {
	const lines = [
		{ kind: "file", text: "--- a.ts" },
		{ kind: "file", text: "+++ a.ts" },
		{ kind: "kept", text: " const a = 1;" },
		{ kind: "removed", text: "-let b = 2;", changed: [[1, 4]] },
		{ kind: "added", text: "+const b = 2;", changed: [[1, 6]] },
	] as const;
	const shown = ["a.ts  +1 -1", ...lines.slice(2).map(({ text }) => text)];
	expect(paintChange(makePaint("none"), lines)).toBe(shown.join("\n"));
	const place = { kind: "place", text: "@@ -9,1 +12,1 @@" } as const;
	expect(paintChange(makePaint("none"), [...lines.slice(0, 3), place])).toContain("⋯ line 12");
	const painted = paintChange(makePaint("dark"), lines).split("\n");
	expect(painted[1]).toContain("\u001b[38;5;183mconst\u001b[39m");
	expect(painted[2]).toContain("\u001b[48;2;92;35;41m\u001b[38;5;183mlet\u001b[39m\u001b[49m");
	expect(painted[3]).toContain("\u001b[48;2;27;74;44m");
	// Fewer colours have no tints.
	const fewer = paintChange(makePaint("dark", 8), lines);
	expect(fewer).not.toContain("48;2");
	expect(fewer).toContain("\u001b[7m\u001b[38;5;183mlet\u001b[39m\u001b[27m");
});
