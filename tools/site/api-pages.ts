// The reference: a page for each public entry, made of the docstrings in the declarations that are published. A name that
// more than one entry exports is described in one of them, and the others link to it.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { listNamedEntries } from "../names.ts";
import { type Export, readExports } from "../read-exports.ts";
import { outputOf, readWorkspaces } from "../workspaces.ts";
import {
	type Declaration,
	type DeclarationFile,
	type Member,
	readDeclarations,
} from "./read-declarations.ts";

/** A page of the site: its path, and its Markdown. */
export interface Page {
	readonly path: string;
	readonly text: string;
	/** The specifier that is imported. */
	readonly title: string;
}

interface Entry {
	readonly specifier: string;
	readonly summary: string;
	readonly exports: ReadonlyMap<string, Export>;
	/** Its declaration file, which `npm run build` writes. */
	readonly types: string;
}

/** Gives what the package of an entry declares under a name of the entry; undefined for names of other packages. */
type Describe = (entry: Entry, name: string) => Declaration | undefined;

/** Where a name is described: the entry's page, and the heading there. */
type Homes = ReadonlyMap<string, { readonly entry: Entry; readonly name: string }>;

/** The pages of the reference. Reads what `npm run build` left in dist; throws when that is not there. */
export function writeApiPages(root: string): readonly Page[] {
	const entries = readEntries(root);
	const homes = homesOf(entries);
	const known = new Map<string, DeclarationFile>();
	const fileAt = (path: string): DeclarationFile => {
		if (!existsSync(path)) throw new Error(`${path} is not there: run npm run build first.`);
		const file = known.get(path) ?? readDeclarations(readFileSync(path, "utf8"));
		known.set(path, file);
		return file;
	};
	const declarationOf: Describe = ({ types }, name) => {
		const passedOn = fileAt(types).passedOn.get(name);
		if (passedOn === undefined || !passedOn.source.startsWith(".")) return undefined;
		const path = join(dirname(types), passedOn.source.replace(/\.js$/, ".d.ts"));
		return fileAt(path).declarations.get(passedOn.name);
	};
	return entries.map((entry) => ({
		path: pathOf(entry.specifier),
		title: entry.specifier,
		text: writePage(entry, homes, declarationOf),
	}));
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
			summary: summaries.get(specifier) ?? "",
			exports: readExports(file, files),
		}))
		.sort(
			(a, b) => Number(isScoped(a)) - Number(isScoped(b)) || a.specifier.localeCompare(b.specifier, "en"),
		);
}

const isScoped = ({ specifier }: Entry): boolean => !/^holdfast(?:\/|$)/.test(specifier);
const pathOf = (specifier: string): string => `api/${specifier.replace(/^@/, "").replaceAll("/", "-")}.md`;
const packageOf = (specifier: string): string =>
	specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
const originOf = ({ origin }: Export): string => `${origin?.file}#${origin?.name}`;
/** Letters keep their case: `agent` and `Agent` are two. */
const anchorOf = (name: string): string => name.replaceAll("$", "");

/** Each declaration is described by an entry of the package it is in, by the package's own entry where that has it. */
function homesOf(entries: readonly Entry[]): Homes {
	const homes = new Map<string, { entry: Entry; name: string }>();
	const inOwnPackage = (entry: Entry, file: string): boolean =>
		file.includes(
			`/packages/${packageOf(entry.specifier)
				.replace(/^@holdfast\//, "")
				.replace(/^holdfast$/, "core")}/`,
		);
	for (const isOwn of [true, false])
		for (const entry of entries)
			for (const [name, exported] of entry.exports) {
				const file = exported.origin?.file ?? "";
				if (homes.has(originOf(exported)) || (isOwn && !inOwnPackage(entry, file))) continue;
				homes.set(originOf(exported), { entry, name });
			}
	return homes;
}

function writePage(entry: Entry, homes: Homes, declarationOf: Describe): string {
	// What is called comes before the types of what it takes and gives.
	const rank = ({ kind }: Export): number => (kind === "value" ? 0 : 1);
	const names = [...entry.exports].sort(
		([a, one], [b, other]) => rank(one) - rank(other) || a.localeCompare(b, "en"),
	);
	const sections: string[] = [];
	const elsewhere: string[] = [];
	const link = linker(entry, homes);
	for (const [name, exported] of names) {
		const home = homes.get(originOf(exported));
		const declaration = declarationOf(entry, name);
		if (home !== undefined && (home.entry !== entry || home.name !== name))
			elsewhere.push(
				`- [\`${name}\`](./${pathOf(home.entry.specifier).slice(4)}#${anchorOf(home.name)}), of \`${home.entry.specifier}\``,
			);
		else if (declaration !== undefined) sections.push(writeSection(name, declaration, link));
		else elsewhere.push(`- \`${name}\``);
	}
	return [
		"---",
		"outline: 2",
		"editLink: false",
		"---",
		`# ${entry.specifier}`,
		"",
		plain(entry.summary, link),
		"",
		...(sections.length > 0 ? ["```ts", importOf(entry, names), "```", ""] : []),
		...sections,
		...(elsewhere.length > 0 ? ["## Described elsewhere {#described-elsewhere}", "", ...elsewhere, ""] : []),
	].join("\n");
}

function importOf({ specifier }: Entry, names: readonly (readonly [string, Export])[]): string {
	const values = names.filter(([, { kind }]) => kind === "value").map(([name]) => name);
	const shown = values.length > 0 ? values : names.map(([name]) => name);
	const list = shown.slice(0, 4).join(", ") + (shown.length > 4 ? " /* … */" : "");
	return `import ${values.length > 0 ? "" : "type "}{ ${list} } from "${specifier}";`;
}

function writeSection(name: string, { kind, doc, code, members }: Declaration, link: Linker): string {
	const { text, tags } = readDoc(doc);
	return [
		`## ${name} <Badge type="info" text="${kind}" /> {#${anchorOf(name)}}`,
		"",
		plain(text, link),
		"",
		// Its heading says as much.
		...(code === `${kind} ${name}` ? [] : ["```ts", code, "```", ""]),
		...tags.map((tag) => writeTag(tag, link)),
		...(members.length > 0 ? [...members.map((member) => writeMember(member, link)), ""] : []),
	].join("\n");
}

function writeMember({ signature, doc }: Member, link: Linker): string {
	const { text, tags } = readDoc(doc);
	const shown = signature.length > 240 ? `${signature.slice(0, 239)}…` : signature;
	const notes = [
		text,
		...tags.filter(([tag]) => tag !== "example").map(([tag, value]) => `${named(tag)} ${value}`),
	];
	const note = notes
		.filter((each) => each.trim() !== "")
		.join(" ")
		.replaceAll(/\s*\n\s*/g, " ");
	return `- ${inline(shown)}${note === "" ? "" : ` — ${plain(note, link)}`}`;
}

function writeTag([tag, value]: Tag, link: Linker): string {
	if (tag !== "example") return `**${named(tag)}** ${plain(value, link)}\n`;
	const code = value.includes("```") ? value : `\`\`\`ts\n${value}\n\`\`\``;
	return `**Example**\n\n${code}\n`;
}

type Tag = readonly [tag: string, value: string];

function named(tag: string): string {
	return tag === "returns" ? "Gives" : `${tag[0]?.toUpperCase()}${tag.slice(1)}`;
}

/** A docstring's text, and what its tags say; what is inside a fenced block is no tag. */
function readDoc(doc: string): { readonly text: string; readonly tags: readonly Tag[] } {
	const text: string[] = [];
	const tags: [string, string[]][] = [];
	let isCode = false;
	// A tag may follow a text on its line.
	const lines = doc.replaceAll(/([.:)`]) @(?=(?:see|throws|returns|deprecated)\b)/g, "$1\n@").split("\n");
	for (const line of lines) {
		if (line.startsWith("```")) isCode = !isCode;
		const { tag, rest = "" } =
			(!isCode && /^@(?<tag>[a-z]\w*)\b(?!\/)\s*(?<rest>.*)$/.exec(line)?.groups) || {};
		if (tag !== undefined) tags.push([tag, [rest]]);
		else (tags.at(-1)?.[1] ?? text).push(line);
	}
	return { text: text.join("\n").trim(), tags: tags.map(([tag, lines]) => [tag, lines.join("\n").trim()]) };
}

type Linker = (name: string) => string;

/** Gives the Markdown for a name that a docstring links to. */
function linker(from: Entry, homes: Homes): Linker {
	const byName = new Map<string, string>();
	for (const { entry, name } of homes.values()) {
		const target = `${entry === from ? "" : `./${pathOf(entry.specifier).slice(4)}`}#${anchorOf(name)}`;
		if (!byName.has(name) || entry === from) byName.set(name, target);
	}
	return (name) => {
		const target = byName.get(name);
		return target === undefined ? `\`${name}\`` : `[\`${name}\`](${target})`;
	};
}

/** Text of a docstring as Markdown of a page: links resolved, and nothing taken for HTML outside of code. */
function plain(text: string, link: Linker): string {
	return text
		.split(/(```[\s\S]*?```|`[^`\n]*`)/)
		.map((piece, at) =>
			at % 2 === 1
				? piece
				: piece
						.replaceAll("<", "&lt;")
						.replaceAll("{{", "&#123;&#123;")
						.replaceAll(/\{@link ([^}|\s]+)[^}]*\}/g, (_, name: string) => link(name)),
		)
		.join("");
}

/** Code within a line, which may have ticks of its own. */
function inline(code: string): string {
	return code.includes("`") ? `\`\` ${code} \`\`` : `\`${code}\``;
}
