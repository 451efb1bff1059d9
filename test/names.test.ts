// Holds docs/names.md against the public entries of the packages and their docstrings.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { countNames, listNamedEntries, summaryOfDeclaration, writeNamesPage } from "../tools/names.ts";

const root = join(import.meta.dirname, "..");
const entries = listNamedEntries(root);

test("docs/names.md describes every public name (npm run api writes it)", () => {
	expect(readFileSync(join(root, "docs/names.md"), "utf8")).toBe(writeNamesPage(entries));
});

test("the changelog counts the public names of entries (npm run api writes it)", () => {
	const changelog = readFileSync(join(root, "CHANGELOG.md"), "utf8");
	expect(changelog).toContain("| `holdfast/types` |");
	expect(changelog).toBe(countNames(changelog, entries));
});

test("every public name has a docstring", () => {
	const bare = entries.flatMap(({ specifier, names }) =>
		names.filter(({ summary }) => summary === "").map(({ name }) => `${specifier}: ${name}`),
	);
	expect(bare).toEqual([]);
});

test("every public entry point has a description", () => {
	expect(entries.filter(({ summary }) => summary === "").map(({ specifier }) => specifier)).toEqual([]);
});

test("the first sentence of a docstring is read, without tags and links", () => {
	const text = [
		"/** Another one. */",
		"const aName = 1;",
		"/**",
		" * Makes a {@link Thing}, e.g. one",
		" * of two. And more.",
		" * @throws never",
		" */",
		"// a note to the linter",
		"export async function* a(): Promise<void> {}",
		"/** Only this @see elsewhere */",
		"export interface B {}",
		"export type C = 1;",
	].join("\n");
	expect(summaryOfDeclaration(text, "a")).toEqual({
		kind: "function",
		summary: "Makes a `Thing`, e.g. one of two.",
	});
	expect(summaryOfDeclaration(text, "B")).toEqual({ kind: "interface", summary: "Only this" });
	expect(summaryOfDeclaration(text, "C")).toEqual({ kind: "type", summary: "" });
});
