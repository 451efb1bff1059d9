// Reads which names a module exports from its source, following re-exports through relative files.
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** The kind of a name: a value at runtime, or a type only. */
export type ExportKind = "type" | "value";

const declaration =
	/^export\s+(?:declare\s+)?(?:default\s+)?(?<keyword>async\s+function\*?|function\*?|abstract\s+class|class|const|let|interface|type)\s+(?<name>[\w$]+)/gm;
const list = /^export\s+(?<type>type\s+)?\{(?<names>[^}]*)\}(?:\s*from\s*"(?<from>[^"]+)")?/gm;
const star = /^export\s+(?<type>type\s+)?\*\s*(?:as\s+(?<name>[\w$]+)\s+)?from\s*"(?<from>[^"]+)"/gm;

/** A name that a module exports. */
export interface Export {
	readonly kind: ExportKind;
	/** Where it is declared: the file, and its name there; undefined for what another package declares. */
	readonly origin?: { readonly file: string; readonly name: string };
}

/** The exported names of the module in `file` with their kind, as {@link readExports} has them. */
export function readExportedNames(file: string): ReadonlyMap<string, ExportKind> {
	return new Map([...readExports(file)].map(([name, { kind }]) => [name, kind]));
}

/**
 * The exports of the module in `file`. A name that a class or function shares with a type is a value. A re-export from a
 * package is a value unless it is marked `type`; `packages` contains the entry files of packages to follow.
 */
export function readExports(
	file: string,
	packages: ReadonlyMap<string, string> = new Map(),
): ReadonlyMap<string, Export> {
	const text = readFileSync(file, "utf8").replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
	const found = new Map<string, Export>();
	const add = (name: string, kind: ExportKind, origin: Export["origin"]): void => {
		if (found.get(name)?.kind !== "value") found.set(name, { kind, ...(origin && { origin }) });
	};
	const follow = (from: string): ReadonlyMap<string, Export> => {
		const target = from.startsWith(".") ? resolve(dirname(file), from) : packages.get(from);
		return target === undefined ? new Map() : readExports(target, packages);
	};
	const own = (): ReadonlyMap<string, Export> =>
		new Map([...readImported(text, follow), ...readDeclared(file, text)]);

	for (const { groups } of text.matchAll(declaration)) {
		const name = groups?.name ?? "";
		add(name, kindOf(groups?.keyword ?? ""), { file, name });
	}
	for (const { groups } of text.matchAll(list)) {
		const from = groups?.from;
		const origins = from === undefined ? own() : follow(from);
		for (const item of (groups?.names ?? "").split(",").map((name) => name.trim())) {
			if (item === "") continue;
			const marked = groups?.type !== undefined || item.startsWith("type ");
			const [inside = "", outside = inside] = item.replace(/^type\s+/, "").split(/\s+as\s+/);
			const known = origins.get(inside);
			add(outside, marked ? "type" : (known?.kind ?? "value"), known?.origin);
		}
	}
	for (const { groups } of text.matchAll(star)) {
		const marked = groups?.type !== undefined;
		if (groups?.name !== undefined) add(groups.name, marked ? "type" : "value", undefined);
		else
			for (const [name, { kind, origin }] of follow(groups?.from ?? ""))
				add(name, marked ? "type" : kind, origin);
	}
	return found;
}

function kindOf(keyword: string): ExportKind {
	return keyword === "interface" || keyword === "type" ? "type" : "value";
}

function readImported(
	text: string,
	follow: (from: string) => ReadonlyMap<string, Export>,
): readonly (readonly [string, Export])[] {
	const imports = /^import\s+(?:type\s+)?\{(?<names>[^}]*)\}\s*from\s*"(?<from>[^"]+)"/gm;
	return [...text.matchAll(imports)].flatMap(({ groups }) =>
		(groups?.names ?? "").split(",").flatMap((item) => {
			const [inside = "", outside = inside] = item
				.trim()
				.replace(/^type\s+/, "")
				.split(/\s+as\s+/);
			const known = follow(groups?.from ?? "").get(inside);
			return known === undefined ? [] : [[outside, known] as const];
		}),
	);
}

function readDeclared(file: string, text: string): readonly (readonly [string, Export])[] {
	const any =
		/^(?:export\s+)?(?:abstract\s+|async\s+)*(?<keyword>interface|type|class|const|function)\*?\s+(?<name>[\w$]+)/gm;
	return [...text.matchAll(any)].map(({ groups }) => {
		const name = groups?.name ?? "";
		return [name, { kind: kindOf(groups?.keyword ?? ""), origin: { file, name } }] as const;
	});
}
