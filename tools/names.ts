// Writes docs/names.md: every public name of every entry with the first sentence of its docstring; and how many names
// entries have, in the changelog. A test holds both against the code.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readExports } from "./read-exports.ts";
import { readWorkspaces } from "./workspaces.ts";

/** A public entry, `holdfast/sqlite`, and what it exports. */
export interface NamedEntry {
	readonly specifier: string;
	/** The entry file's own description. */
	readonly summary: string;
	readonly names: readonly {
		readonly name: string;
		readonly kind: string;
		/** First sentence of its docstring; empty without one. */
		readonly summary: string;
	}[];
}

/** The public entries of all packages. */
export function listNamedEntries(root: string): readonly NamedEntry[] {
	const entries = readWorkspaces(root).flatMap(({ folder, entries: own }) =>
		own.map(({ specifier, source }) => ({ specifier, file: join(root, "packages", folder, source) })),
	);
	const files = new Map(entries.map(({ specifier, file }) => [specifier, file]));
	return entries.map(({ specifier, file }) => ({
		specifier,
		summary: summaryOfFile(readFileSync(file, "utf8")),
		names: [...readExports(file, files)]
			.map(([name, { kind, origin }]) => ({
				name,
				...(origin === undefined
					? { kind, summary: "" }
					: summaryOfDeclaration(readFileSync(origin.file, "utf8"), origin.name)),
			}))
			.sort((a, b) => a.name.localeCompare(b.name, "en")),
	}));
}

/** The page of these entries. */
export function writeNamesPage(entries: readonly NamedEntry[]): string {
	const sections = entries.map(({ specifier, summary, names }) => {
		const rows = names.map(
			(each) => `| \`${each.name}\` | ${each.kind} | ${each.summary.replaceAll("|", "\\|")} |`,
		);
		return [`## ${specifier}`, "", summary, "", "| name | kind | what it is |", "|---|---|---|", ...rows, ""];
	});
	const head = [
		"# Names",
		"",
		"Every name that can be imported, by entry, with the first sentence of its docstring. `npm run api` writes this page.",
		"",
	];
	return [...head, ...sections.flat()].join("\n");
}

/** The changelog with the present number of names in its table "Public names before and after". */
export function countNames(changelog: string, entries: readonly NamedEntry[]): string {
	const counts = new Map(entries.map(({ specifier, names }) => [specifier, names.length]));
	return changelog.replaceAll(
		/^(\| `([^`]+)` \| (?:\d+|\u2013) \| )\d+ \|$/gm,
		(row, start, entry) => `${start}${counts.get(entry) ?? row} |`,
	);
}

/** The kind of a declaration and the first sentence of the docstring above it. */
export function summaryOfDeclaration(
	text: string,
	name: string,
): { readonly kind: string; readonly summary: string } {
	const declaration = new RegExp(
		`(?:/\\*\\*(?<doc>(?:(?!\\*/)[\\s\\S])*)\\*/\\s*(?://.*\\s*)*)?^(?:export\\s+)?(?:declare\\s+|default\\s+|async\\s+|abstract\\s+)*(?<keyword>function|class|const|let|interface|type)\\*?\\s+${name.replaceAll("$", "\\$")}(?![\\w$])`,
		"gm",
	);
	const all = [...text.matchAll(declaration)];
	const best = all.find(({ groups }) => groups?.doc !== undefined) ?? all[0];
	return { kind: best?.groups?.keyword ?? "", summary: firstSentence(best?.groups?.doc ?? "") };
}

function summaryOfFile(text: string): string {
	const [comment = ""] = /^(?:\/\/.*\n?)+/.exec(text) ?? [];
	return firstSentence(comment.replaceAll(/^\/\/ ?/gm, ""));
}

/** The text up to its first full stop, tag or empty line, on one line. */
function firstSentence(text: string): string {
	const plain = text
		.replaceAll(/^\s*\* ?/gm, "")
		.trim()
		.split(/\n\s*\n|(?:^|\s)@\w+\b(?!\/)/)[0];
	const line = (plain ?? "")
		.replaceAll(/\{@link ([^}|\s]+)[^}]*\}/g, "`$1`")
		.replaceAll(/\s+/g, " ")
		.trim();
	return /^.*?(?<!\b(?:e\.g|i\.e))\.(?=\s|$)/.exec(line)?.[0] ?? line;
}

function main(): void {
	const root = join(import.meta.dirname, "..");
	const entries = listNamedEntries(root);
	writeFileSync(join(root, "docs/names.md"), writeNamesPage(entries));
	const changelog = join(root, "CHANGELOG.md");
	writeFileSync(changelog, countNames(readFileSync(changelog, "utf8"), entries));
}

if (import.meta.main) main();
