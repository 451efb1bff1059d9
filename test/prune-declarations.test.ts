import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { pruneDeclarations } from "../tools/prune-declarations.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-declarations-"));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** The files that stay of some, by their places. */
function prune(files: Readonly<Record<string, string>>): Record<string, string> {
	for (const [place, text] of Object.entries(files)) {
		mkdirSync(dirname(join(folder, place)), { recursive: true });
		writeFileSync(join(folder, place), text);
	}
	return Object.fromEntries(pruneDeclarations(folder, ["index.d.ts"]));
}

test("of declarations those stay that an exported name leads to, with their documentation", () => {
	const kept = prune({
		"index.d.ts": 'export { type Shown, make as build } from "./parts/index.ts";\n',
		"parts/index.d.ts": 'export * from "./made.ts";\nexport { hidden } from "./hidden.ts";\n',
		"parts/made.d.ts": [
			'import { type Deep, type Unused } from "./deep.ts";',
			"/** What is {shown}. */",
			"export interface Shown {",
			"    /** Its depth. */",
			"    readonly deep: Deep;",
			'    readonly far: import("./far.ts").Far;',
			"}",
			"export declare function make(): Shown;",
			"export declare function unused(): Unused;",
		].join("\n"),
		"parts/deep.d.ts": "export type Deep = Local[];\ntype Local = 1;\nexport type Unused = 2;\n",
		"parts/far.d.ts": "export type Far = 3;\nexport type Farther = 4;\n",
		"parts/hidden.d.ts": "export declare const hidden: 5;\n",
	});
	expect(kept).toEqual({
		"index.d.ts": 'export { type Shown, make as build } from "./parts/index.ts";\n',
		"parts/index.d.ts": 'export * from "./made.ts";\n',
		"parts/made.d.ts": [
			'import { type Deep } from "./deep.ts";',
			"/** What is {shown}. */",
			"export interface Shown {",
			"\t/** Its depth. */",
			"\treadonly deep: Deep;",
			'\treadonly far: import("./far.ts").Far;',
			"}",
			"export declare function make(): Shown;",
			"",
		].join("\n"),
		"parts/deep.d.ts": "export type Deep = Local[];\ntype Local = 1;\n",
		"parts/far.d.ts": "export type Far = 3;\n",
	});
});

test("members marked internal are left out, and a class with an internal constructor is not made by its users", () => {
	const kept = prune({
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
	expect(kept).toEqual({
		"index.d.ts": [
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

test("a name that a file does not export is said", () => {
	const files = { "index.d.ts": 'export { gone } from "./there.ts";\n', "there.d.ts": "export {};\n" };
	expect(() => prune(files)).toThrow("index.d.ts takes gone from there.d.ts, which does not export it.");
});

test("what a file declares for the whole program stays with any part of it that stays", () => {
	const global = "declare global {\n\tnamespace Names {\n\t\tinterface Known {\n\t\t}\n\t}\n}\n";
	const kept = prune({
		"index.d.ts": 'export type { Name } from "./names.ts";\nexport type { Other } from "./other.ts";\n',
		"names.d.ts": `${global}export type Name = keyof Names.Known;\nexport type Unused = 1;\n`,
		"other.d.ts": "export type Other = 1;\n",
		"unreached.d.ts": `${global}export type Far = 1;\n`,
	});
	expect(kept["names.d.ts"]).toBe(`${global}export type Name = keyof Names.Known;\n`);
	expect(Object.keys(kept)).not.toContain("unreached.d.ts");
});
