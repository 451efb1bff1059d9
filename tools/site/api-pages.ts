// The reference: a page for each public entry that lists its names, and a page for each small group of names that share a
// source file. It is generated from the docstrings in the published declarations. A name that several entries export is
// described once, and the others link to it.
import { basename, dirname, join } from "node:path";
import { listNamedEntries } from "../names.ts";
import { type Export, readExports } from "../read-exports.ts";
import { outputOf, readWorkspaces } from "../workspaces.ts";
import { anchorOf, type Linker, plain, summaryOf, writeSection } from "./api-markdown.ts";
import { declarationFinder } from "./find-declarations.ts";
import { formatCode } from "./format-code.ts";
import type { Declaration } from "./read-declarations.ts";

/** A page of the site: its path, and its Markdown. */
export interface Page {
	readonly path: string;
	readonly text: string;
	readonly title: string;
	/** The repository file that it is generated from; undefined for pages of the reference. */
	readonly source?: string;
}

interface Entry {
	readonly specifier: string;
	readonly summary: string;
	readonly exports: ReadonlyMap<string, Export>;
	/** Its declaration file, which `npm run build` writes. */
	readonly types: string;
}

/** A name with its declaration and the entry that describes it. */
interface Described {
	readonly name: string;
	readonly exported: Export;
	readonly declaration: Declaration;
	/** Types that it is made of and that no entry exports, such as the alternatives of a union. */
	readonly parts: readonly Declaration[];
}

/** Names that are described on one page. */
interface Group {
	readonly entry: Entry;
	/** Path of the page, without `.md`. */
	readonly path: string;
	readonly names: readonly Described[];
}

/** Returns the pages of the reference. Reads the output of `npm run build` in dist; throws if it is missing. */
export function writeApiPages(root: string): readonly Page[] {
	const entries = readEntries(root);
	const { find, partsOf } = declarationFinder(
		new Map(entries.map(({ specifier, types }) => [specifier, types])),
	);
	const groups = withParts(
		groupsOf(entries, homesOf(entries), ({ types }, name) => find(types, name)),
		({ types }, name, exported) => partsOf(types, name, exported).map(({ declaration }) => declaration),
	);
	const linkFrom = linker(root, groups);
	const declarations = groups.flatMap(({ names }) =>
		names.flatMap(({ declaration, parts }) => [declaration, ...parts]),
	);
	const formatted = formatCode(declarations.map(({ code }) => code));
	const codes = new Map(
		declarations.map((declaration, at) => [declaration, formatted[at] ?? declaration.code]),
	);
	const pages = groups.map(
		(group): Page => ({
			path: `${group.path}.md`,
			title: titleOf(group),
			text: writeGroup(group, codes, linkFrom(group.entry)),
		}),
	);
	return [...entries.map((entry) => writeEntry(entry, groups, linkFrom(entry))), ...pages];
}

function readEntries(root: string): readonly Entry[] {
	const summaries = new Map(listNamedEntries(root).map(({ specifier, summary }) => [specifier, summary]));
	const places = readWorkspaces(root).flatMap(({ folder, entries }) =>
		entries.map(({ specifier, source }) => {
			const file = join(root, "packages", folder, source);
			const types = join(root, "packages", folder, "dist", `${outputOf(source)}.d.ts`);
			return { specifier, file, types };
		}),
	);
	const files = new Map(places.map(({ specifier, file }) => [specifier, file]));
	return places
		.map(({ specifier, file, types }) => ({
			specifier,
			types,
			summary: withoutEntry(summaries.get(specifier) ?? ""),
			exports: readExports(file, files),
		}))
		.sort(
			(a, b) => Number(isScoped(a)) - Number(isScoped(b)) || a.specifier.localeCompare(b.specifier, "en"),
		);
}

/** Removes the start of an entry's comment: "Entry `holdfast/sqlite`: sessions in …". */
function withoutEntry(summary: string): string {
	const text = summary.replace(/^(?:The )?[Ee]ntry `[^`]+`:\s*/, "");
	return `${text[0]?.toUpperCase() ?? ""}${text.slice(1)}`;
}

const isScoped = ({ specifier }: Entry): boolean => !/^holdfast(?:\/|$)/.test(specifier);
const folderOf = ({ specifier }: Entry): string => `api/${specifier.replace(/^@/, "").replaceAll("/", "-")}`;
const packageOf = (specifier: string): string =>
	specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
const originOf = ({ origin }: Export): string => `${origin?.file}#${origin?.name}`;

/**
 * Returns the entry that describes each declaration: one of its own package, and the package's main entry if it exports
 * the name.
 */
function homesOf(entries: readonly Entry[]): ReadonlyMap<string, Entry> {
	const homes = new Map<string, Entry>();
	const inOwnPackage = (entry: Entry, file: string): boolean =>
		file.includes(
			`/packages/${packageOf(entry.specifier)
				.replace(/^@holdfast\//, "")
				.replace(/^holdfast$/, "core")}/`,
		);
	for (const isOwn of [true, false])
		for (const entry of entries)
			for (const exported of entry.exports.values()) {
				const file = exported.origin?.file ?? "";
				if (homes.has(originOf(exported)) || (isOwn && !inOwnPackage(entry, file))) continue;
				homes.set(originOf(exported), entry);
			}
	return homes;
}

/** Names of an entry that are declared in one source file are described together. */
function groupsOf(
	entries: readonly Entry[],
	homes: ReadonlyMap<string, Entry>,
	declarationOf: (entry: Entry, name: string) => Declaration | undefined,
): readonly Group[] {
	return entries.flatMap((entry) => {
		const files = new Map<string, Described[]>();
		const seen = new Set<string>();
		for (const [name, exported] of entry.exports) {
			const declaration = declarationOf(entry, name);
			const origin = originOf(exported);
			if (homes.get(origin) !== entry || declaration === undefined || seen.has(origin)) continue;
			seen.add(origin);
			const file = exported.origin?.file ?? "";
			files.set(file, [...(files.get(file) ?? []), { name, exported, declaration, parts: [] }]);
		}
		const taken = new Set<string>();
		return [...files].map(([file, names]) => {
			const short = basename(file, ".ts");
			const long = `${basename(dirname(file))}-${short}`;
			const isClear = !/^(?:index|types|contract)$/.test(short) && !taken.has(short);
			const name = isClear ? short : long;
			taken.add(name);
			return { entry, path: `${folderOf(entry)}/${name}`, names: [...names].sort(callsFirst) };
		});
	});
}

/** Adds the parts of each name. One that several names share is described once: with a type if possible. */
function withParts(
	groups: readonly Group[],
	partsOf: (entry: Entry, name: string, exported: ReadonlySet<Declaration>) => readonly Declaration[],
): readonly Group[] {
	const exported = new Set(groups.flatMap(({ names }) => names.map(({ declaration }) => declaration)));
	const parts = new Map<Described, readonly Declaration[]>();
	const seen = new Set<Declaration>();
	const all = groups.flatMap(({ entry, names }) => {
		// A page has one anchor for a name.
		const onPage = new Set(names.map(({ name }) => name));
		return names.map((described) => ({ entry, described, onPage }));
	});
	for (const isType of [true, false])
		for (const { entry, described, onPage } of all) {
			if ((described.declaration.kind === "type") !== isType) continue;
			const found = partsOf(entry, described.name, exported).filter(
				(part) => !seen.has(part) && !onPage.has(part.name),
			);
			for (const part of found) {
				seen.add(part);
				onPage.add(part.name);
			}
			parts.set(described, found);
		}
	return groups.map((group) => ({
		...group,
		names: group.names.map((described) => ({ ...described, parts: parts.get(described) ?? [] })),
	}));
}

/** Functions and classes come before the types of their arguments and results. */
function callsFirst(a: Described, b: Described): number {
	const rank = ({ exported }: Described): number => (exported.kind === "value" ? 0 : 1);
	return rank(a) - rank(b) || a.name.localeCompare(b.name, "en");
}

/** Returns the names that a page describes first. */
function titleOf({ names }: Group): string {
	const values = names.filter(({ exported }) => exported.kind === "value");
	const shown = (values.length > 0 ? values : names).map(({ name }) => name);
	return shown.slice(0, 3).join(", ") + (shown.length > 3 ? ", …" : "");
}

function writeGroup(group: Group, codes: ReadonlyMap<Declaration, string>, link: Linker): string {
	const { entry, names } = group;
	return [
		"---",
		"outline: 2",
		"editLink: false",
		"---",
		// The names use the anchors with their own names.
		`# ${titleOf(group)} {#about-this-page}`,
		"",
		"```ts",
		importOf(entry, names),
		"```",
		"",
		...names.flatMap(({ name, declaration, parts }) => [
			writeSection(name, declaration, codes.get(declaration) ?? declaration.code, link),
			...parts.map((part) => writeSection(part.name, part, codes.get(part) ?? part.code, link, "###")),
		]),
		`All names of [\`${entry.specifier}\`](../${folderOf(entry).slice("api/".length)}.md)`,
		"",
	].join("\n");
}

function importOf({ specifier }: Entry, names: readonly Described[]): string {
	const values = names.filter(({ exported }) => exported.kind === "value");
	const shown = (values.length > 0 ? values : names).map(({ name }) => name);
	const list = shown.slice(0, 4).join(", ") + (shown.length > 4 ? " /* … */" : "");
	return `import ${values.length > 0 ? "" : "type "}{ ${list} } from "${specifier}";`;
}

/** Writes the page of an entry: its names with the first sentence of each, and links to the pages that describe them. */
function writeEntry(entry: Entry, groups: readonly Group[], link: Linker): Page {
	const described = new Map<string, { readonly group: Group; readonly at: Described }>();
	for (const group of groups)
		for (const at of group.names) {
			const origin = originOf(at.exported);
			if (!described.has(origin) || group.entry === entry) described.set(origin, { group, at });
		}
	const rowsOf = (kind: Export["kind"]): readonly string[] =>
		[...entry.exports]
			.filter(([, exported]) => exported.kind === kind)
			.sort(([a], [b]) => a.localeCompare(b, "en"))
			.map(([name, exported]) => {
				const found = described.get(originOf(exported));
				if (found === undefined) return `| \`${name}\` | |`;
				const { group, at } = found;
				const target = `./${group.path.slice("api/".length)}.md#${anchorOf(at.name)}`;
				const from = group.entry === entry ? "" : ` Described with \`${group.entry.specifier}\`.`;
				const summary = plain(summaryOf(at.declaration.doc), link).replaceAll("](../", "](./");
				return `| [\`${name}\`](${target}) | ${summary.replaceAll("|", "\\|")}${from} |`;
			});
	const table = (title: string, rows: readonly string[]): readonly string[] =>
		rows.length === 0 ? [] : [`## ${title}`, "", "| name | description |", "|---|---|", ...rows, ""];
	const values = rowsOf("value");
	return {
		path: `${folderOf(entry)}.md`,
		title: entry.specifier,
		text: [
			"---",
			"editLink: false",
			"---",
			`# ${entry.specifier}`,
			"",
			plain(entry.summary, link).replaceAll("](../", "](./"),
			"",
			...table("Functions and classes", values),
			...table("Types", rowsOf("type")),
		].join("\n"),
	};
}

/**
 * Creates the links of a group's page; the page of an entry is one folder above. A name is looked up in the package of
 * the page, then in the packages that it depends on.
 */
function linker(root: string, groups: readonly Group[]): (from: Entry) => Linker {
	const targets = new Map<string, string>();
	const add = ({ entry, path }: Group, name: string): void => {
		const key = `${packageOf(entry.specifier)} ${name}`;
		if (!targets.has(key)) targets.set(key, `../${path.slice("api/".length)}.md#${anchorOf(name)}`);
	};
	for (const group of groups) for (const { name } of group.names) add(group, name);
	for (const group of groups)
		for (const { parts } of group.names) for (const { name } of parts) add(group, name);
	const below = new Map(readWorkspaces(root).map(({ name, dependencies }) => [name, dependencies]));
	return ({ specifier }) => {
		const own = packageOf(specifier);
		const packages = [own, ...(below.get(own) ?? [])];
		return (name) => {
			const target = packages
				.map((each) => targets.get(`${each} ${name}`))
				.find((each) => each !== undefined);
			return target === undefined ? `\`${name}\`` : `[\`${name}\`](${target})`;
		};
	};
}
