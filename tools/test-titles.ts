// Finds the titles of tests in TypeScript sources without running them, with the requirement IDs they name.
// Read by pattern, not by compiler: a title is a literal first argument of test() or it(), of a call on a table of cases,
// the literal that such a table's row begins with, or the literal `name` or `title` of a case that a shared suite runs.
import { readFileSync } from "node:fs";
import { listSources } from "./list-sources.ts";

/** A test that names at least one requirement. */
export interface NamedTest {
	/** Path from the root of the repository, with forward slashes. */
	readonly file: string;
	readonly title: string;
	/** Requirement IDs in the order the title names them. */
	readonly ids: readonly string[];
}

const literal = String.raw`(?<quote>["'\`])(?<title>(?:\\.|(?!\k<quote>)[^\\])*)\k<quote>`;
const direct = new RegExp(String.raw`(?<![\w.])(?:test|it)(?<modifiers>(?:\.\w+)*)\s*\(\s*${literal}`, "gs");
const onCases = new RegExp(String.raw`[)\]\`]\s*\(\s*${literal}\s*,`, "gs");
const named = new RegExp(String.raw`(?<![\w.])(?:name|title)\s*:\s*${literal}`, "gs");
const row = new RegExp(String.raw`[[,(]\s*\[\s*${literal}\s*,`, "gs");
/** The form of a requirement's name in a title. */
const requirement = /\b(?:UAP|SA|API|RUN|SES)-\d{3}\b/g;

/** The tests of one source text that name a requirement; skipped tests and comments do not count. */
export function readNamedTests(file: string, source: string): readonly NamedTest[] {
	const text = source.replace(/^[\t ]*\/\/.*$/gm, "").replace(/^[\t ]*\/\*[\s\S]*?\*\//gm, "");
	const found = new Map<number, NamedTest>();
	for (const pattern of [direct, onCases, row, named]) {
		for (const match of text.matchAll(pattern)) {
			if (/\.(?:skip|todo|fails)\b/.test(match.groups?.modifiers ?? "")) continue;
			const title = (match.groups?.title ?? "").replaceAll(/\\(["'`])/g, "$1");
			const ids = idsOf(title);
			const place = match.index + match[0].lastIndexOf(match.groups?.title ?? "");
			if (ids.length > 0) found.set(place, { file, title, ids });
		}
	}
	return [...found].sort(([one], [other]) => one - other).map(([, test]) => test);
}

/** The requirement IDs of a title, in their order. */
export function idsOf(title: string): readonly string[] {
	return [...title.matchAll(requirement)].map(([id]) => id);
}

/** Every test of the repository that names a requirement, those of shared suites too, ordered by file and place. */
export function findNamedTests(root: string): readonly NamedTest[] {
	return listSources(root).flatMap((file) => readNamedTests(file, readFileSync(`${root}/${file}`, "utf8")));
}
