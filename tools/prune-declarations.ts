// What the public entries of a package say in types, and nothing else: of the compiler's declaration files only the
// declarations that an exported name leads to are kept, without members marked `@internal`.
import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { parseAst } from "rolldown/parseAst";

/** A node of the syntax tree, as far as it is looked at here. */
interface Node {
	readonly type: string;
	readonly start: number;
	readonly end: number;
	readonly [member: string]: unknown;
}

/** A statement at the top of a file. */
interface Statement {
	readonly node: Node;
	/** With the comment before it, and without internal members. */
	readonly text: string;
	/** Names it declares; none where it imports or passes on. */
	readonly declares: readonly string[];
	kept: boolean;
}

/** A name that comes from another file or package. */
interface Passed {
	readonly statement: Statement;
	readonly source: string;
	/** Its name there; `*` for all of it. */
	readonly name: string;
	/** How it is written in the braces of an import or export. */
	readonly written: string;
	kept: boolean;
}

interface File {
	readonly statements: readonly Statement[];
	readonly imports: ReadonlyMap<string, Passed>;
	readonly exports: ReadonlyMap<string, Passed>;
	readonly wholes: readonly Passed[];
}

/** The declaration files that `entries` (`index.d.ts`, …) of a folder lead to, by their place in it. */
export function pruneDeclarations(folder: string, entries: readonly string[]): ReadonlyMap<string, string> {
	const files = new Map<string, File>();
	const fileAt = (place: string): File => {
		const known = files.get(place) ?? readFile(readFileSync(join(folder, place), "utf8"));
		files.set(place, known);
		return known;
	};

	/** Keeps what a file exports under a name. False when it exports no such name. */
	function keepExport(place: string, name: string): boolean {
		const file = fileAt(place);
		const passed = file.exports.get(name);
		if (passed !== undefined) {
			if (passed.source === "") keepLocal(place, passed.name);
			else keepPassed(place, passed);
			passed.kept = true;
			passed.statement.kept = true;
			return true;
		}
		if (file.statements.some(({ node, declares }) => isExport(node) && declares.includes(name))) {
			keepLocal(place, name);
			return true;
		}
		for (const whole of file.wholes) {
			const target = targetOf(place, whole.source);
			if (target === undefined || !keepExport(target, name)) continue;
			whole.statement.kept = true;
			return true;
		}
		return false;
	}

	function keepPassed(place: string, passed: Passed): void {
		if (passed.kept) return;
		passed.kept = true;
		passed.statement.kept = true;
		const target = targetOf(place, passed.source);
		if (target === undefined) return;
		if (passed.name === "*") keepAll(target);
		else if (!keepExport(target, passed.name)) {
			throw new Error(`${place} takes ${passed.name} from ${target}, which does not export it.`);
		}
	}

	function keepLocal(place: string, name: string): void {
		const file = fileAt(place);
		const imported = file.imports.get(name);
		if (imported !== undefined) keepPassed(place, imported);
		for (const statement of file.statements) {
			if (statement.kept || !statement.declares.includes(name)) continue;
			statement.kept = true;
			// What a file declares for the whole program goes with any part of it.
			if (name !== "global") keepLocal(place, "global");
			for (const used of namesIn(statement.text)) {
				if (typeof used === "string") keepLocal(place, used);
				else keepImportType(place, used.source, used.name);
			}
		}
	}

	function keepImportType(place: string, source: string, name: string | undefined): void {
		const target = targetOf(place, source);
		if (target === undefined) return;
		if (name === undefined) keepAll(target);
		else keepExport(target, name);
	}

	function keepAll(place: string): void {
		const file = fileAt(place);
		for (const name of file.exports.keys()) keepExport(place, name);
		for (const { node, declares } of file.statements)
			if (isExport(node)) for (const name of declares) keepLocal(place, name);
		for (const whole of file.wholes) {
			whole.statement.kept = true;
			const target = targetOf(place, whole.source);
			if (target !== undefined) keepAll(target);
		}
	}

	for (const entry of entries) keepAll(entry);
	const texts = [...files].map(([place, file]): [string, string] => [place, writeFile(file)]);
	return new Map(texts.filter(([place, text]) => text !== "" || entries.includes(place)));
}

function readFile(text: string): File {
	const imports = new Map<string, Passed>();
	const exports = new Map<string, Passed>();
	const wholes: Passed[] = [];
	let before = 0;
	const statements = parse(text).map((node): Statement => {
		const lead = text.slice(before, node.start).trim();
		before = node.end;
		const own = withoutInternals(text, node);
		const statement: Statement = {
			node,
			text: lead === "" ? own : `${lead}\n${own}`,
			declares: declaredBy(node),
			kept: false,
		};
		const source = (node.source as { value?: string } | null | undefined)?.value ?? "";
		if (node.type === "ExportAllDeclaration") {
			wholes.push({ statement, source, name: "*", written: "", kept: false });
		}
		for (const each of (node.specifiers as Node[] | undefined) ?? []) {
			const isImport = node.type === "ImportDeclaration";
			const there = (isImport ? each.imported : each.local) as { name?: string } | undefined;
			const here = (isImport ? each.local : each.exported) as { name: string };
			const written = text.slice(each.start, each.end);
			const passed = { statement, source, name: there?.name ?? "*", written, kept: false };
			(isImport ? imports : exports).set(here.name, passed);
		}
		return statement;
	});
	return { statements, imports, exports, wholes };
}

function writeFile(file: File): string {
	const passed = [...file.imports.values(), ...file.exports.values()];
	return file.statements
		.filter(({ kept }) => kept)
		.map((statement) => {
			const names = passed.filter((each) => each.kept && each.statement === statement);
			if (names.length === 0) return `${statement.text}\n`;
			return `${passOn(statement, names)}\n`;
		})
		.join("")
		.replace(/^(?: {4})+/gm, (spaces) => "\t".repeat(spaces.length / 4));
}

/** An import or export of some of its names. */
function passOn({ node, text }: Statement, names: readonly Passed[]): string {
	const [first] = node.specifiers as [Node];
	const open = text.lastIndexOf("{", text.length - (node.end - first.start));
	const close = text.lastIndexOf("}");
	if (open < 0) return text; // `import * as name`
	const written = names.map((each) => each.written).join(", ");
	return `${text.slice(0, open)}{ ${written} }${text.slice(close + 1)}`;
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

/** Names a declaration refers to; those of an `import("…")` with their source. */
function namesIn(text: string): readonly (string | { source: string; name: string | undefined })[] {
	const found: (string | { source: string; name: string | undefined })[] = [];
	const visit = (node: unknown): void => {
		if (Array.isArray(node)) for (const each of node) visit(each);
		if (typeof node !== "object" || node === null || !("type" in node)) return;
		const { type, name, source, qualifier, computed } = node as Node;
		if (type === "Identifier") found.push(name as string);
		if (type === "TSImportType") {
			const first = (qualifier as { name?: string; left?: { name?: string } } | null) ?? undefined;
			found.push({ source: (source as { value: string }).value, name: first?.name ?? first?.left?.name });
		}
		for (const [member, value] of Object.entries(node)) {
			if (member === "key" && computed !== true) continue; // a member's own name
			visit(value);
		}
	};
	visit(parse(text));
	return found;
}

/** The file of a relative import; undefined for packages. */
function targetOf(place: string, source: string): string | undefined {
	if (!source.startsWith(".")) return undefined;
	return `${posix.join(posix.dirname(place), source.replace(/\.(?:ts|js)$/, ""))}.d.ts`;
}
