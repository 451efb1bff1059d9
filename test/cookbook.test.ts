// The recipes of docs/cookbook: their form, and that configuration in them parses. Their TypeScript is compiled and run with
// every other example of the documentation.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse as parseToml } from "smol-toml";
import { describe, expect, test } from "vitest";
import { parseAllDocuments, parse as parseYaml } from "yaml";

const folder = join(import.meta.dirname, "../docs/cookbook");
const read = (page: string): string => readFileSync(join(folder, page), "utf8");
const recipes = readdirSync(folder).filter((page) => page !== "index.md");

/** The sections that end every recipe. */
const sections = ["When the process dies", "Limits", "See also"];

const instruction = /^(?:FROM|WORKDIR|COPY|RUN|ENV|USER|VOLUME|EXPOSE|CMD|#)\b|^#|^ {2,}|^$/;

/** What checks the blocks of a language; throws for a block that does not parse. */
const parsers: Readonly<Record<string, (text: string) => unknown>> = {
	json: (text) => JSON.parse(text),
	toml: (text) => parseToml(text),
	yaml: (text) => {
		for (const { errors } of parseAllDocuments(text)) if (errors[0] !== undefined) throw errors[0];
		return parseYaml(text.split(/^---$/m)[0] ?? "");
	},
	sh: (text) => execFileSync("bash", ["-n"], { input: text }),
	dockerfile: (text) => {
		const wrong = text.split("\n").find((line) => !instruction.test(line));
		if (wrong !== undefined) throw new Error(`No instruction: ${wrong}`);
	},
	ini: (text) => {
		const wrong = text.split("\n").find((line) => !/^(?:\[\w+\]|[A-Za-z]+=.*|#.*|)$/.test(line));
		if (wrong !== undefined) throw new Error(`No setting: ${wrong}`);
	},
	// Compiled and run by the test of examples.
	ts: () => undefined,
	text: () => undefined,
};

test("the index links to every recipe", () => {
	const index = read("index.md");
	expect(recipes.filter((page) => !index.includes(`](${page})`))).toEqual([]);
	expect(recipes.length).toBeGreaterThanOrEqual(25);
});

describe.each(recipes)("the recipe %s", (page) => {
	test("states its problem, shows code, and ends with crashes, limits and links", () => {
		const text = read(page);
		expect(text).toMatch(/^# .+\n\n[A-Z]/);
		expect(text).toContain("\n```");
		const headings = [...text.matchAll(/^## (?<heading>.+)$/gm)].map(({ groups }) => groups?.heading);
		expect(headings.slice(-sections.length)).toEqual(sections);
		expect(text.split("\n").length).toBeLessThanOrEqual(130);
	});

	test("has configuration and commands that parse", () => {
		for (const { groups } of read(page).matchAll(/^```(?<language>\w*)[^\n]*\n(?<code>[\s\S]*?)^```$/gm)) {
			const parse = parsers[groups?.language ?? ""];
			expect([groups?.language, parse !== undefined]).toEqual([groups?.language, true]);
			parse?.(groups?.code ?? "");
		}
	});
});
