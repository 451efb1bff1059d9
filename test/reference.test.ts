// What the site is made of: the pages that its sidebar names, and docstrings read from declarations.
import { join } from "node:path";
import { expect, test } from "vitest";
import { listFiles } from "../tools/list-sources.ts";
import { outline } from "../tools/site/outline.ts";
import { placeOf } from "../tools/site/pages.ts";
import { readDeclarations } from "../tools/site/read-declarations.ts";

test("every page that the site's sidebar names is there", () => {
	const places = new Set(listFiles(join(import.meta.dirname, ".."), ".md").map(placeOf));
	const missing = outline.flatMap(({ pages }) => pages.filter((page) => !places.has(`${page}.md`)));
	expect(missing).toEqual([]);
});

test.each([
	["docs/guide/tools.md", "guide/tools.md"],
	["docs/cookbook/index.md", "cookbook/index.md"],
	["packages/core/README.md", "packages/core.md"],
	["examples/README.md", "examples/index.md"],
	["examples/support-desk/README.md", "examples/support-desk.md"],
	["CHANGELOG.md", "changelog.md"],
	["tools/site/home.md", "index.md"],
	["README.md", undefined],
	["docs/requirements.md", undefined],
	["packages/create-holdfast/templates/script/README.md", undefined],
])("the paper %s is the page %s", (paper, page) => {
	expect(placeOf(paper)).toBe(page);
});

test("a declaration is read with its docstring, its members and theirs, without what only a compiler reads", () => {
	const text = [
		'import type { Other } from "./other.js";',
		"/** Not of this one. */",
		"interface Hidden {",
		"\treadonly a: 1;",
		"}",
		"/**",
		" * Makes a thing.",
		" * @throws never",
		" */",
		"export declare function make(name: string): Thing;",
		"/** Makes many. */",
		"export declare function make(names: readonly string[]): Thing[];",
		"/** A thing. */",
		"export interface Thing extends Other {",
		"\t/** Its name. */",
		"\treadonly name?: string;",
		"\trename(",
		"\t\tname: string,",
		"\t): void;",
		'\treadonly "~types"?: Hidden;',
		"}",
		"/** One of two. */",
		'export type Kind = "a" | "b";',
		'export { Agent, LoopOptions as Options } from "./shared/types.js";',
		'export type { Message } from "@holdfast/upp";',
	].join("\n");
	const { declarations: found, passedOn } = readDeclarations(text);
	expect([...passedOn]).toEqual([
		["Agent", { source: "./shared/types.js", name: "Agent" }],
		["Options", { source: "./shared/types.js", name: "LoopOptions" }],
		["Message", { source: "@holdfast/upp", name: "Message" }],
	]);
	expect(found.get("make")).toEqual({
		name: "make",
		kind: "function",
		doc: "Makes a thing.\n@throws never\n\nMakes many.",
		code: "function make(name: string): Thing;\nfunction make(names: readonly string[]): Thing[];",
		members: [],
	});
	expect(found.get("Thing")).toEqual({
		name: "Thing",
		kind: "interface",
		doc: "A thing.",
		code: "interface Thing extends Other",
		members: [
			{ signature: "name?: string", doc: "Its name." },
			{ signature: "rename(name: string): void", doc: "" },
		],
	});
	expect(found.get("Kind")).toMatchObject({
		kind: "type",
		doc: "One of two.",
		code: 'type Kind = "a" | "b";',
	});
});
