// Holds the lists of public names in docs/api/ against the entries of the packages.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { listPublicExports } from "../tools/public-exports.ts";
import { readExportedNames } from "../tools/read-exports.ts";
import { readWorkspaces } from "../tools/workspaces.ts";

const root = join(import.meta.dirname, "..");
const lists = listPublicExports(root);

test("every public entry point has its list, and there are no other lists", () => {
	expect(readdirSync(join(root, "docs/api")).sort()).toEqual([...lists.keys()].sort());
});

describe("public names", () => {
	for (const [file, list] of lists) {
		test(`docs/api/${file} lists what the entry exports (npm run api writes it)`, () => {
			expect(list).toBe(readFileSync(join(root, "docs/api", file), "utf8"));
		});
	}
	for (const { folder, entries } of readWorkspaces(root)) {
		for (const { specifier, source } of entries) {
			test(`${specifier} has at runtime the values in its list`, async () => {
				const file = join(root, "packages", folder, source);
				const values = [...readExportedNames(file)].filter(([, kind]) => kind === "value");
				const loaded: object = await import(file);
				expect(values.map(([name]) => name).sort()).toEqual(Object.keys(loaded).sort());
			});
		}
	}
});

test("names are read through re-exports with their kinds", () => {
	const folder = mkdtempSync(join(tmpdir(), "holdfast-exports-"));
	try {
		writeFileSync(
			join(folder, "a.ts"),
			"export const a = 1;\nexport type A = 1;\nexport interface B {}\nclass C {}\nexport { C, type B as D };\n",
		);
		writeFileSync(
			join(folder, "b.ts"),
			'export * from "./a.ts";\nexport { a as e, type A as F } from "./a.ts";\n',
		);
		expect([...readExportedNames(join(folder, "b.ts"))].sort()).toEqual([
			["A", "type"],
			["B", "type"],
			["C", "value"],
			["D", "type"],
			["F", "type"],
			["a", "value"],
			["e", "value"],
		]);
	} finally {
		rmSync(folder, { recursive: true });
	}
});
