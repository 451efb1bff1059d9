// Compares the codes that connectors return with the pages that list them.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");
const sources = join(root, "packages/runner/src/connectors");

test("every code of a connector is on its page or in the list of errors, and the page has no other", () => {
	const files = readdirSync(sources).filter(
		(file) => file.endsWith(".ts") && !/\.(?:test|fixture)\.ts$/.test(file),
	);
	const texts = files.map((file) => readFileSync(join(sources, file), "utf8"));
	const given = new Set(
		texts.flatMap((text) => [...text.matchAll(/\bfailed\(\s*"([A-Z_]+)"/g)].map(([, code = ""]) => code)),
	);
	expect(given.size).toBeGreaterThan(8);
	const codes = (file: string): ReadonlySet<string> =>
		new Set(
			[...readFileSync(join(root, file), "utf8").matchAll(/^\| `([A-Z_]+)` \|/gm)].map(
				([, code = ""]) => code,
			),
		);
	const [page, errors] = [codes("docs/guide/connectors.md"), codes("docs/errors/runner.md")];
	expect([...given].filter((code) => !page.has(code) && !errors.has(code))).toEqual([]);
	expect([...page].filter((code) => !given.has(code))).toEqual([]);
});
