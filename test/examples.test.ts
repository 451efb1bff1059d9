import { expect, test } from "vitest";
import { extractFromMarkdown, extractFromSource } from "../tools/examples/extract.ts";

const fence = "```";

test("a block of a page keeps its line numbers, its preamble and its mark", () => {
	const paper = [
		"# Title",
		"<!-- preamble",
		"const one = 1;",
		"-->",
		"",
		`${fence}ts no-run`,
		"one + 1;",
		fence,
		`${fence}sh`,
		"npm ci",
		fence,
	];
	const [example, ...others] = extractFromMarkdown("a.md", paper.join("\n"));
	expect(others).toEqual([]);
	expect(example).toMatchObject({ line: 7, run: "compile-only" });
	expect(example?.code.split("\n").slice(0, 8)).toEqual([
		"",
		"",
		"const one = 1;",
		"",
		"",
		"",
		"one + 1;",
		"export {};",
	]);
});

test("a preamble belongs to the next block only", () => {
	const paper = ["<!-- preamble", "const one = 1;", "-->", `${fence}ts`, fence, `${fence}ts`, fence];
	const codes = extractFromMarkdown("a.md", paper.join("\n")).map(({ code }) => code.includes("one"));
	expect(codes).toEqual([true, false]);
});

test("a docstring's example is read fenced or plain, up to the next tag", () => {
	const source = [
		"/**",
		" * Adds.",
		" * @example",
		` * ${fence}ts`,
		" * add(1);",
		` * ${fence}`,
		" */",
		"export const add = 1;",
		"/**",
		" * @example",
		" * add(2);",
		" * @see elsewhere",
		" */",
	];
	const found = extractFromSource("a.ts", source.join("\n"));
	expect(found.map(({ line, code }) => [line, code.trim()])).toEqual([
		[5, "add(1);\nexport {};"],
		[11, "add(2);\nexport {};"],
	]);
});

test("a docstring's example uses the names of its package without importing them", () => {
	const source = ["", "/**", " * @example", ' * import { b } from "elsewhere";', " * a(b, x.c);", " */"];
	const known = new Map(["a", "b", "c"].map((name) => [name, "here"]));
	const [example] = extractFromSource("a.ts", source.join("\n"), known);
	expect(example?.code.split("\n")[0]).toBe('import { a } from "here"; ');
	expect(example?.code.split("\n")[4]).toBe("a(b, x.c);");
});
