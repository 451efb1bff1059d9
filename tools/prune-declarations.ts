// Reduces the compiler's declaration files to the public entries of a package: it keeps only declarations that an
// exported name refers to, without members marked `@internal`. They are in one file, so they need no imports of each
// other; the entries re-export their names from it. A source file that uses a name in a different sense than earlier
// files starts a second one. Docstrings are kept where the reference shows them.
import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { parseAst } from "rolldown/parseAst";
import { readDeclarations } from "./site/read-declarations.ts";

/** The used part of a node of the syntax tree. */
interface Node {
	readonly type: string;
	readonly start: number;
	readonly end: number;
	readonly [member: string]: unknown;
}

/** A declaration at the top of a file. */
interface Declaration {
	/** With the comment before it, and without internal members. */
	readonly text: string;
	readonly declares: readonly string[];
	readonly exported: boolean;
	kept: boolean;
	/** Whether it is exported, or a part of what is. */
	described: boolean;
}

/** A name that comes from another file or package; without `source` it is the file's own under another name. */
interface Passed {
	readonly source: string | undefined;
	readonly name: string;
	readonly typeOnly: boolean;
}

interface File {
	readonly declarations: readonly Declaration[];
	readonly imports: ReadonlyMap<string, Passed>;
	readonly exports: ReadonlyMap<string, Passed>;
	/** Sources whose names are all passed on. */
	readonly wholes: readonly string[];
}

/** Where a name is declared: in a file of the folder, or in a package. */
interface Origin {
	readonly place?: string;
	readonly source?: string;
	readonly name: string;
	readonly typeOnly: boolean;
}

/** A file that is written: what each name means in it, and the source files whose declarations it holds. */
interface Volume {
	readonly place: string;
	readonly meanings: Map<string, Origin | undefined>;
	readonly files: File[];
}

/** The declaration files for `entries` (`index.d.ts`, …) of a folder, by their path in it. */
export function pruneDeclarations(folder: string, entries: readonly string[]): ReadonlyMap<string, string> {
	const files = new Map<string, File>();
	const fileAt = (place: string): File => {
		const known = files.get(place) ?? readFile(readFileSync(join(folder, place), "utf8"));
		files.set(place, known);
		return known;
	};

	/** Undefined where a file exports no such name. */
	function originOfExport(place: string, name: string): Origin | undefined {
		const { declarations, exports, wholes } = fileAt(place);
		const passed = exports.get(name);
		if (passed !== undefined) return originOfPassed(place, passed);
		if (declarations.some(({ declares, exported }) => exported && declares.includes(name)))
			return { place, name, typeOnly: false };
		for (const whole of wholes) {
			const target = targetOf(place, whole);
			const origin = target === undefined ? undefined : originOfExport(target, name);
			if (origin !== undefined) return origin;
		}
		return undefined;
	}

	function originOfPassed(place: string, { source, name, typeOnly }: Passed): Origin {
		const target = source === undefined ? undefined : targetOf(place, source);
		if (source !== undefined && target === undefined) return { source, name, typeOnly };
		const origin = target === undefined ? originOf(place, name) : originOfExport(target, name);
		if (origin === undefined)
			throw new Error(`${place} takes ${name} from ${target}, which does not export it.`);
		return { ...origin, typeOnly: typeOnly || origin.typeOnly };
	}

	/** Of a name that is used in a file. Undefined where it is neither declared nor imported: it is global. */
	function originOf(place: string, name: string): Origin | undefined {
		const { declarations, imports } = fileAt(place);
		const imported = imports.get(name);
		if (imported !== undefined) return originOfPassed(place, imported);
		const declared = declarations.some(({ declares }) => declares.includes(name));
		return declared ? { place, name, typeOnly: false } : undefined;
	}

	function keep({ place, name }: Origin): void {
		if (place === undefined) return;
		for (const declaration of fileAt(place).declarations) {
			if (declaration.kept || !declaration.declares.includes(name)) continue;
			declaration.kept = true;
			// Global declarations of a file are kept with any part of it.
			keep({ place, name: "global", typeOnly: false });
			for (const used of namesIn(declaration.text)) {
				const origin = originOf(place, used);
				if (origin !== undefined) keep(origin);
			}
		}
	}

	function describe({ place, name }: Origin): void {
		if (place === undefined) return;
		for (const declaration of fileAt(place).declarations) {
			if (declaration.described || !declaration.declares.includes(name)) continue;
			declaration.described = true;
			const { refersTo = [] } = readDeclarations(declaration.text).declarations.get(name) ?? {};
			for (const part of refersTo) {
				const origin = originOf(place, part);
				if (origin !== undefined) describe(origin);
			}
		}
	}

	function exportsOf(place: string): ReadonlyMap<string, Origin> {
		const { declarations, exports, wholes } = fileAt(place);
		const names = [
			...exports.keys(),
			...declarations.flatMap(({ declares, exported }) => (exported ? declares : [])),
		];
		const targets = wholes.map((whole) => targetOf(place, whole)).filter((target) => target !== undefined);
		return new Map([
			...targets.flatMap((target) => [...exportsOf(target)]),
			...names.map((name): [string, Origin] => [name, originOfExport(place, name) as Origin]),
		]);
	}

	const shown = entries.map((entry) => [entry, exportsOf(entry)] as const);
	for (const [, exports] of shown)
		for (const origin of exports.values()) {
			keep(origin);
			describe(origin);
		}

	const volumes: Volume[] = [];
	const volumeOf = new Map<string, Volume>();
	for (const [place, file] of files) {
		const kept = file.declarations.filter((declaration) => declaration.kept);
		if (kept.length === 0) continue;
		const names = kept.flatMap(({ declares, text }) => [...declares, ...namesIn(text)]);
		const meanings = new Map(names.map((name) => [name, originOf(place, name)]));
		let volume = volumes.find((each) => agree(each.meanings, meanings));
		if (volume === undefined) {
			const number = volumes.length === 0 ? "" : `-${volumes.length + 1}`;
			volume = { place: `shared/types${number}.d.ts`, meanings: new Map(), files: [] };
			volumes.push(volume);
		}
		for (const [name, origin] of meanings) volume.meanings.set(name, origin);
		volume.files.push(file);
		volumeOf.set(place, volume);
	}
	/** Names that a written file takes from others, or an entry shows of them. */
	const passOn = (keyword: string, from: string, names: Iterable<readonly [string, Origin]>): string => {
		const written = new Map<string, string[]>();
		for (const [name, origin] of names) {
			const there = volumeOf.get(origin.place ?? "")?.place;
			const source = origin.source ?? pathTo(from, there as string);
			const start = keyword === "export" && origin.typeOnly ? "export type" : keyword;
			const statement = `${start} {} from ${JSON.stringify(source)};`;
			const others = written.get(statement) ?? [];
			written.set(statement, [...others, origin.name === name ? name : `${origin.name} as ${name}`]);
		}
		return [...written]
			.map(([statement, all]) => `${statement.replace("{}", `{ ${all.join(", ")} }`)}\n`)
			.join("");
	};
	return new Map([
		...shown.map(([entry, exports]): [string, string] => [
			entry,
			passOn("export", entry, exports) || "export {};\n",
		]),
		...volumes.map((volume): [string, string] => {
			const { place, meanings, files } = volume;
			const foreign = [...meanings].filter((each): each is [string, Origin] => {
				const [name, origin] = each;
				if (origin === undefined) return false;
				return origin.name !== name || volumeOf.get(origin.place ?? "") !== volume;
			});
			const own = files.flatMap(({ declarations }) => declarations.filter(({ kept }) => kept));
			const text = own.map((each) => `${each.described ? each.text : withoutComments(each.text)}\n`).join("");
			const indented = text.replace(/^(?: {4})+/gm, (spaces) => "\t".repeat(spaces.length / 4));
			return [place, passOn("import", place, foreign) + withUnwrappedComments(indented)];
		}),
	]);
}

function withoutComments(text: string): string {
	return text.replaceAll(/^[ \t]*\/\*\*[\s\S]*?\*\/\n/gm, "");
}

/** Joins the wrapped lines of each paragraph of the docstrings, which saves one byte in fifty. Code keeps its lines. */
function withUnwrappedComments(text: string): string {
	return text.replace(/^(\t*)\/\*\*\n([\s\S]*?)\n\t* \*\//gm, (_, indent: string, content: string) => {
		const lines: string[] = [];
		let isExample = false;
		let isFenced = false;
		for (const line of content.split("\n").map((each) => each.replace(/^\t* \* ?/, ""))) {
			const last = lines.at(-1) ?? "";
			const isFence = line.startsWith("```");
			if (!isFenced && line.startsWith("@")) isExample = line.startsWith("@example");
			const isNew = last === "" || line === "" || /^(?:@|[-*|#>`]|\d+\.)/.test(line);
			if (isNew || isExample || isFenced || last.startsWith("```")) lines.push(line);
			else lines[lines.length - 1] = `${last} ${line.trimStart()}`;
			if (isFence) isFenced = !isFenced;
		}
		const [only = ""] = lines;
		if (lines.length === 1 && !only.startsWith("@")) return `${indent}/** ${only} */`;
		return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join("\n")}\n${indent} */`;
	});
}

/** Whether each name of one means the same in the other, where both use it. */
function agree(one: Volume["meanings"], other: Volume["meanings"]): boolean {
	return [...other].every(([name, origin]) => {
		if (!one.has(name)) return true;
		const known = one.get(name);
		return known?.place === origin?.place && known?.source === origin?.source && known?.name === origin?.name;
	});
}

function readFile(text: string): File {
	const declarations: Declaration[] = [];
	const imports = new Map<string, Passed>();
	const exports = new Map<string, Passed>();
	const wholes: string[] = [];
	let before = 0;
	for (const node of parse(text)) {
		const lead = text.slice(before, node.start).trim();
		before = node.end;
		const source = (node.source as { value: string } | null | undefined)?.value;
		if (node.type === "ExportAllDeclaration") wholes.push(source as string);
		for (const each of (node.specifiers as Node[] | undefined) ?? []) {
			const isImport = node.type === "ImportDeclaration";
			if (each.type === "ImportNamespaceSpecifier")
				throw new Error(`Import by name what is used of ${source}.`);
			const there = (isImport ? each.imported : each.local) as { name: string } | undefined;
			const here = (isImport ? each.local : each.exported) as { name: string };
			const kinds = [node.importKind, node.exportKind, each.importKind, each.exportKind];
			const passed = { source, name: there?.name ?? "default", typeOnly: kinds.includes("type") };
			(isImport ? imports : exports).set(here.name, passed);
		}
		const declares = declaredBy(node);
		if (declares.length === 0) continue;
		const own = withoutInternals(text, node);
		const documented = lead === "" ? own : `${lead}\n${own}`;
		declarations.push({
			text: documented,
			declares,
			exported: isExport(node),
			kept: false,
			described: false,
		});
	}
	return { declarations, imports, exports, wholes };
}

function parse(text: string): readonly Node[] {
	return parseAst(text, { lang: "dts" }).body as unknown as Node[];
}

function isExport({ type }: Node): boolean {
	return type === "ExportNamedDeclaration" || type === "ExportDefaultDeclaration";
}

function declaredBy(node: Node): readonly string[] {
	const declared = (isExport(node) ? (node.declaration ?? undefined) : node) as Node | undefined;
	if (declared === undefined) return [];
	const { declarations, id } = declared as {
		declarations?: { id: { name: string } }[];
		id?: { name: string };
	};
	return declarations?.map((each) => each.id.name) ?? (id?.name === undefined ? [] : [id.name]);
}

/** A statement without the members whose comment says `@internal`; a class is then not made by its users. */
function withoutInternals(text: string, node: Node): string {
	const declared = (node.declaration ?? node) as Node;
	const members = ((declared.body as Node | undefined)?.body ?? []) as readonly Node[];
	if (!Array.isArray(members)) return text.slice(node.start, node.end);
	let kept = "";
	let from = node.start;
	let before = (declared.body as Node | undefined)?.start ?? node.start;
	for (const member of members) {
		if (text.slice(before + 1, member.start).includes("@internal")) {
			kept += text.slice(from, before + 1);
			if (member.kind === "constructor") kept += "\n    private constructor();";
			from = member.end;
		}
		before = member.end - 1;
	}
	return kept + text.slice(from, node.end);
}

/** Names a declaration refers to. */
function namesIn(text: string): readonly string[] {
	const found = new Set<string>();
	const visit = (node: unknown, member: string): void => {
		if (Array.isArray(node)) for (const each of node) visit(each, member);
		if (typeof node !== "object" || node === null || !("type" in node)) return;
		const { type, name, computed } = node as Node;
		if (type === "TSImportType") throw new Error(`Import by name what is used in:\n${text}`);
		if (type === "Identifier" && member !== "params") found.add(name as string);
		for (const [inner, value] of Object.entries(node)) {
			if (inner === "key" && computed !== true) continue; // a member's own name
			visit(value, inner);
		}
	};
	visit(parse(text), "");
	return [...found];
}

/** The file of a relative import; undefined for packages. */
function targetOf(place: string, source: string): string | undefined {
	if (!source.startsWith(".")) return undefined;
	return `${posix.join(posix.dirname(place), source.replace(/\.(?:ts|js)$/, ""))}.d.ts`;
}

/** How a declaration file refers to another. */
function pathTo(from: string, place: string): string {
	const path = posix.relative(posix.dirname(from), place.replace(/\.d\.ts$/, ".js"));
	return path.startsWith(".") ? path : `./${path}`;
}
