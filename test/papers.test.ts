// The papers of the repository: that what they link to is there.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { listFiles } from "../tools/list-sources.ts";
import { readWorkspaces } from "../tools/workspaces.ts";

const root = join(import.meta.dirname, "..");

/** The anchors of a paper, made from its headings as a reader's browser knows them. */
function anchorsOf(file: string): ReadonlySet<string> {
	const headings = readFileSync(file, "utf8").matchAll(/^#+ (?<heading>.+)$/gm);
	return new Set(
		[...headings].map(({ groups }) =>
			(groups?.heading ?? "")
				.toLowerCase()
				.replaceAll(/[^\w\- ]/g, "")
				.replaceAll(" ", "-"),
		),
	);
}

test("every relative link of a page leads to an existing file and heading", () => {
	const broken: string[] = [];
	for (const paper of listFiles(root, ".md")) {
		for (const { groups } of readFileSync(join(root, paper), "utf8").matchAll(/\]\((?<target>[^)\s]+)\)/g)) {
			const target = groups?.target ?? "";
			if (/^[a-z]+:/.test(target)) continue;
			const [path = "", anchor] = target.split("#");
			const file = path === "" ? join(root, paper) : join(root, dirname(paper), path);
			const isThere = existsSync(file) && (anchor === undefined || anchorsOf(file).has(anchor));
			if (!isThere) broken.push(`${paper}: ${target}`);
		}
	}
	expect(broken).toEqual([]);
});

test("the glossary has at most 30 terms, in order, one line each", () => {
	const text = readFileSync(join(root, "docs/glossary.md"), "utf8");
	const terms = [...text.matchAll(/^\| \*\*(?<term>[^*]+)\*\* \| [^|]+ \|$/gm)].map(
		({ groups }) => groups?.term ?? "",
	);
	expect(terms.length).toBeLessThanOrEqual(30);
	expect(terms).toEqual([...new Set(terms)].sort());
	expect(terms.length).toBe(text.split("\n").filter((line) => line.startsWith("| **")).length);
});

test.each(readWorkspaces(root))(
	"$name explains its installation, shows code or commands, and has its licence",
	({ folder }) => {
		const place = join(root, "packages", folder);
		const page = readFileSync(join(place, "README.md"), "utf8");
		expect(page).toMatch(/^npm (?:install|create) /m);
		expect(page).toMatch(/^```(?:ts|sh)/m);
		expect(existsSync(join(place, "LICENSE"))).toBe(true);
	},
);

test("every file and folder that CONTRIBUTING.md names exists", () => {
	const text = readFileSync(join(root, "CONTRIBUTING.md"), "utf8");
	const named = [...text.matchAll(/`(?<path>(?:packages|test|tools|docs|bench|examples)\/[\w./-]*)`/g)].map(
		({ groups }) => groups?.path ?? "",
	);
	expect(named.length).toBeGreaterThan(40);
	const isMade = (path: string): boolean => path === "packages/NAME" || path.startsWith("bench/results");
	expect(named.filter((path) => !isMade(path) && !existsSync(join(root, path)))).toEqual([]);
	for (const { folder } of readWorkspaces(root)) expect(named).toContain(`packages/${folder}`);
});

test("the design lists every kind of fact and every table of the journal, and no others", () => {
	const text = readFileSync(join(root, "docs/design.md"), "utf8");
	const rowsOf = (heading: string): readonly string[] => {
		const [, section = ""] =
			new RegExp(`^### ${heading}\\n([\\s\\S]*?)(?:^##|(?![\\s\\S]))`, "m").exec(text) ?? [];
		const cells = [...section.matchAll(/^\| (?<cell>`[^|]+`) \|/gm)].map(({ groups }) => groups?.cell ?? "");
		return cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name)).sort();
	};
	const namesIn = (file: string, pattern: RegExp): readonly string[] =>
		[...readFileSync(join(root, file), "utf8").matchAll(pattern)].map(([, name = ""]) => name);
	const kinds = ["fact", "tool-facts"].flatMap((file) =>
		namesIn(`packages/core/src/facts/${file}.ts`, /^\treadonly kind: "([a-z.]+)";/gm),
	);
	expect(rowsOf("Entries")).toEqual([...kinds].sort());
	const tables = listFiles(join(root, "packages/core/src/sqlite"), ".ts").flatMap((file) =>
		/\.test\.ts$|checkpoint/.test(file)
			? []
			: namesIn(join("packages/core/src/sqlite", file), /CREATE TABLE (?:IF NOT EXISTS )?([a-z_]+)/g),
	);
	const kept = new Set(tables);
	expect(rowsOf("Tables in SQLite").filter((name) => !kept.has(name))).toEqual([]);
	expect([...kept].filter((name) => !rowsOf("Tables in SQLite").includes(name))).toEqual([]);
});
