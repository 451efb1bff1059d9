import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { pruneDeclarations } from "../tools/prune-declarations.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-declarations-"));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** What is written for some files, by its places. */
function prune(
	files: Readonly<Record<string, string>>,
	entries: readonly string[] = ["index.d.ts"],
): Record<string, string> {
	for (const [place, text] of Object.entries(files)) {
		mkdirSync(dirname(join(folder, place)), { recursive: true });
		writeFileSync(join(folder, place), text);
	}
	return Object.fromEntries(pruneDeclarations(folder, entries));
}

test("declarations that an exported name reaches are kept, with their documentation, in one file", () => {
	const written = prune(
		{
			"index.d.ts":
				'export { type Shown, make as build } from "./parts/index.ts";\nexport { Far } from "far";\n',
			"inner/deep.d.ts": 'export type { Deep } from "../parts/deep.ts";\n',
			"parts/index.d.ts": 'export * from "./made.ts";\nexport { hidden } from "./hidden.ts";\n',
			"parts/made.d.ts": [
				'import { type Deep, type Unused } from "./deep.ts";',
				'import type { Far as Farther } from "far";',
				'import near from "near";',
				"/** What is {shown}. */",
				"export interface Shown {",
				"    /** Its depth. */",
				"    readonly deep: Deep;",
				"    readonly far: Farther;",
				"    readonly near: near.Near;",
				"}",
				"export declare function make(): Shown;",
				"export declare function unused(): Unused;",
			].join("\n"),
			"parts/deep.d.ts": "export type Deep = Local[];\ntype Local = 1;\nexport type Unused = 2;\n",
			"parts/hidden.d.ts": "export declare const hidden: 5;\n",
		},
		["index.d.ts", "inner/deep.d.ts"],
	);
	expect(written).toEqual({
		"index.d.ts": [
			'export type { Shown } from "./shared/types.js";',
			'export { make as build } from "./shared/types.js";',
			'export { Far } from "far";',
			"",
		].join("\n"),
		"inner/deep.d.ts": 'export type { Deep } from "../shared/types.js";\n',
		"shared/types.d.ts": [
			'import { Far as Farther } from "far";',
			'import { default as near } from "near";',
			"/** What is {shown}. */",
			"export interface Shown {",
			"\t/** Its depth. */",
			"\treadonly deep: Deep;",
			"\treadonly far: Farther;",
			"\treadonly near: near.Near;",
			"}",
			"export declare function make(): Shown;",
			"export type Deep = Local[];",
			"type Local = 1;",
			"",
		].join("\n"),
	});
});

test("a file that uses a name in another sense than earlier ones starts a second one", () => {
	const written = prune({
		"index.d.ts": [
			'export type { One } from "./one.ts";',
			'export type { Two } from "./two.ts";',
			'export type { Three } from "./three.ts";',
		].join("\n"),
		"one.d.ts": "export type One = Options;\ntype Options = 1;\n",
		"two.d.ts":
			'import type { One } from "./one.ts";\nexport type Two = [One, Options];\ntype Options = 2;\n',
		"three.d.ts": 'import type { Two } from "./two.ts";\nexport type Three = Two;\n',
	});
	expect(written).toEqual({
		"index.d.ts": [
			'export type { One, Three } from "./shared/types.js";',
			'export type { Two } from "./shared/types-2.js";',
			"",
		].join("\n"),
		"shared/types.d.ts": [
			'import { Two } from "./types-2.js";',
			"export type One = Options;",
			"type Options = 1;",
			"export type Three = Two;",
			"",
		].join("\n"),
		"shared/types-2.d.ts": [
			'import { One } from "./types.js";',
			"export type Two = [One, Options];",
			"type Options = 2;",
			"",
		].join("\n"),
	});
});

test("a file that declares a name that is global in earlier ones starts a second one", () => {
	const written = prune({
		"index.d.ts": 'export type { Given } from "./given.ts";\nexport type { Event } from "./event.ts";\n',
		"given.d.ts": "export type Given = Event;\n",
		"event.d.ts": "export type Event = 1;\n",
	});
	expect(written["shared/types.d.ts"]).toBe("export type Given = Event;\n");
	expect(written["shared/types-2.d.ts"]).toBe("export type Event = 1;\n");
});

test("members marked internal are removed, and users cannot construct a class with an internal constructor", () => {
	const written = prune({
		"index.d.ts": [
			'import type { Table } from "./table.ts";',
			"export declare class Session {",
			"    #private;",
			"    readonly key: string;",
			"    /** @internal */",
			"    constructor(table: Table);",
			"    /** Ends it. */",
			"    end(): void;",
			"    /** For tests. @internal */",
			"    get table(): Table;",
			"}",
		].join("\n"),
		"table.d.ts": "export type Table = 1;\n",
	});
	expect(written).toEqual({
		"index.d.ts": 'export { Session } from "./shared/types.js";\n',
		"shared/types.d.ts": [
			"export declare class Session {",
			"\t#private;",
			"\treadonly key: string;",
			"\tprivate constructor();",
			"\t/** Ends it. */",
			"\tend(): void;",
			"}",
			"",
		].join("\n"),
	});
});

test("a name that a file does not export is reported", () => {
	const files = { "index.d.ts": 'export { gone } from "./there.ts";\n', "there.d.ts": "export {};\n" };
	expect(() => prune(files)).toThrow("index.d.ts takes gone from there.d.ts, which does not export it.");
});

test("global declarations of a file are kept with any part of it that is kept", () => {
	const global = "declare global {\n\tnamespace Names {\n\t\tinterface Known {\n\t\t}\n\t}\n}\n";
	const written = prune({
		"index.d.ts": 'export type { Name } from "./names.ts";\nexport type { Other } from "./other.ts";\n',
		"names.d.ts": `${global}export type Name = keyof Names.Known;\nexport type Unused = 1;\n`,
		"other.d.ts": "export type Other = 1;\n",
		"unreached.d.ts": `${global}export type Far = 1;\n`,
	});
	expect(written["shared/types.d.ts"]).toBe(
		`${global}export type Name = keyof Names.Known;\nexport type Other = 1;\n`,
	);
});

test("a wrapped paragraph of a docstring is one line; tags, lists and code keep theirs", () => {
	const text = [
		"/**",
		" * Makes it, in as many",
		" * words.",
		" *",
		" * - one",
		" *   item",
		" * - two",
		" * @throws an error that takes",
		" * two lines.",
		" * @example",
		" * make();",
		" * // Twice.",
		" * make();",
		" */",
		"export declare function make(): void;",
		"/** Options. */",
		"export interface Options {",
		"    /**",
		"     * In pixels, of",
		"     * the screen.",
		"     */",
		"    readonly width: number;",
		"}",
	];
	expect(prune({ "index.d.ts": text.join("\n") })["shared/types.d.ts"]?.split("\n")).toEqual([
		"/**",
		" * Makes it, in as many words.",
		" *",
		" * - one item",
		" * - two",
		" * @throws an error that takes two lines.",
		...text.slice(9, 17),
		"\t/** In pixels, of the screen. */",
		"\treadonly width: number;",
		"}",
		"",
	]);
});

test("docstrings are kept where the reference shows them: of what is exported, and of its parts", () => {
	const text = [
		"/** Exported. */",
		"export interface Shown {",
		"    /** A part. */",
		"    readonly part: Part;",
		"    /** A method. */",
		"    find(): Found;",
		"}",
		"/** Of data. */",
		"interface Part {",
		"    /** A name. */",
		"    readonly name: string;",
		"}",
		"/** Of a method. */",
		"interface Found {",
		"    /** A number. */",
		"    readonly count: number;",
		"}",
	];
	const written = prune({ "index.d.ts": text.join("\n") })["shared/types.d.ts"] ?? "";
	const docs = [...written.matchAll(/\/\*\* (.*) \*\//g)].map(([, doc]) => doc);
	expect(docs).toEqual(["Exported.", "A part.", "A method.", "Of data.", "A name."]);
	expect(written).toContain("readonly count: number;");
});
