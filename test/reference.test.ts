// What the site is made of: the pages that its sidebar names, and docstrings read from declarations.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { listFiles, listSources } from "../tools/list-sources.ts";
import { keywords } from "../tools/site/keywords.ts";
import { listUndescribed } from "../tools/site/list-undescribed.ts";
import { outline } from "../tools/site/outline.ts";
import { placeOf, withPackageManagers } from "../tools/site/pages.ts";
import { readDeclarations } from "../tools/site/read-declarations.ts";

test("every page that the site's sidebar names exists", () => {
	const places = new Set(listFiles(join(import.meta.dirname, ".."), ".md").map(placeOf));
	const missing = outline.flatMap(({ pages }) => pages.filter((page) => !places.has(`${page}.md`)));
	expect(missing).toEqual([]);
});

test("every page with keywords for the search exists, and every guide and recipe has some", () => {
	const places = listFiles(join(import.meta.dirname, ".."), ".md").flatMap((paper) => placeOf(paper) ?? []);
	const pages = new Set(places.map((place) => place.replace(/\.md$/, "")));
	expect([...keywords.keys()].filter((page) => !pages.has(page))).toEqual([]);
	const isGuide = (page: string): boolean => /^(?:guide|cookbook)\//.test(page);
	const left = new Set(["cookbook/index", "guide/runner-migration", "migrate/flue"]);
	expect([...pages].filter((page) => isGuide(page) && !keywords.has(page) && !left.has(page))).toEqual([]);
});

test("no docstring of a package refers to the documents from which its requirements come", () => {
	const root = join(import.meta.dirname, "..");
	const refers = /@see (?!https:)|\bdocument [1-5]\b|\bUAP \d/i;
	const found = listSources(root)
		.filter((file) => file.startsWith("packages/") && !/\.(?:test|test-d|fixture)\.tsx?$/.test(file))
		.filter((file) => refers.test(readFileSync(join(root, file), "utf8")));
	expect(found).toEqual([]);
});

test("a block that installs gets a tab for each package manager, and no other block does", () => {
	const text = [
		"```sh",
		"npm create holdfast@latest my-agent -- --template script",
		"cd my-agent",
		"npm install",
		"npm install --save-dev @holdfast/testing",
		"npm start",
		"```",
	].join("\n");
	const tabs = withPackageManagers(text).split("```sh ").slice(1);
	expect(tabs.map((tab) => tab.split("\n").slice(0, 6))).toEqual([
		["[npm]", ...text.split("\n").slice(1, 6)],
		[
			"[pnpm]",
			"pnpm create holdfast@latest my-agent --template script",
			"cd my-agent",
			"pnpm install",
			"pnpm add --save-dev @holdfast/testing",
			"pnpm start",
		],
		[
			"[yarn]",
			"yarn create holdfast my-agent --template script",
			"cd my-agent",
			"yarn",
			"yarn add --dev @holdfast/testing",
			"yarn start",
		],
		[
			"[bun]",
			"bun create holdfast@latest my-agent --template script",
			"cd my-agent",
			"bun install",
			"bun add --dev @holdfast/testing",
			"bun run start",
		],
	]);
	const other = "```sh\nnpm ci && npm start\n```";
	expect(withPackageManagers(other)).toBe(other);
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
])("the page %s is the page %s", (paper, page) => {
	expect(placeOf(paper)).toBe(page);
});

test("a declaration is read with its docstring, its members and theirs, without internal ones", () => {
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
		'\treadonly kind: "thing";',
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
		bases: [],
		refersTo: ["Thing"],
	});
	expect(found.get("Thing")).toEqual({
		name: "Thing",
		kind: "interface",
		doc: "A thing.",
		code: "interface Thing extends Other",
		members: [
			{ name: "name", signature: "name?: string", doc: "Its name." },
			{ name: "rename", signature: "rename(name: string): void", doc: "" },
			{ name: "kind", signature: 'kind: "thing"', doc: "", needsNoDoc: true },
		],
		bases: ["Other"],
		refersTo: ["Other"],
	});
	expect(found.get("Kind")).toMatchObject({
		kind: "type",
		doc: "One of two.",
		code: 'type Kind = "a" | "b";',
	});
});

test("every exported name, and every member that does not explain itself, has a description", () => {
	expect(listUndescribed(join(import.meta.dirname, ".."))).toEqual([]);
});

test("a new option without a description is found, also in the parts of a union; a literal and an id need none", () => {
	const root = mkdtempSync(join(tmpdir(), "undescribed-"));
	const write = (path: string, lines: readonly string[]): void => {
		mkdirSync(dirname(join(root, path)), { recursive: true });
		writeFileSync(join(root, path), lines.join("\n"));
	};
	try {
		const exports = { ".": { "holdfast-source": "./src/index.ts" } };
		write("packages/a/package.json", [JSON.stringify({ name: "a", exports })]);
		write("packages/a/src/index.ts", [
			'export { make, type MakeOptions, type Shape } from "./make.ts";',
			'export type { Port } from "./port.ts";',
		]);
		write("packages/a/src/port.ts", [
			"/** A port. */",
			"export interface Port {",
			"\t/** Opens it. */",
			"\topen(): void;",
			"\tclose(): void;",
			"}",
		]);
		write("packages/a/src/make.ts", [
			'import type { Port } from "./port.ts";',
			"/** Options. */",
			"export interface MakeOptions extends Port {",
			"\t/** In pixels. */",
			"\treadonly width: number;",
			"\treadonly height?: number;",
			'\treadonly kind: "made";',
			"\treadonly runId: string;",
			"\topen(): void;",
			"\t[Symbol.dispose](): void;",
			"}",
			"/** A circle. */",
			"interface Circle {",
			'\treadonly type: "circle";',
			"\treadonly radius: number;",
			"}",
			"interface Square {",
			'\treadonly type: "square";',
			"}",
			"interface Unused {",
			"\treadonly a: number;",
			"}",
			"/** Of one kind. */",
			'export type Shape = Circle | Exclude<Square, Circle["type"]>;',
			"/** Makes it. */",
			"export function make(options: MakeOptions): void {",
			"\tconst unused: Unused[] = [];",
			"}",
		]);
		expect(listUndescribed(root)).toEqual([
			"packages/a/src/make.ts MakeOptions.height",
			"packages/a/src/make.ts Circle.radius",
			"packages/a/src/make.ts Square",
			"packages/a/src/port.ts Port.close",
		]);
	} finally {
		rmSync(root, { recursive: true, force: true });
	}
});
