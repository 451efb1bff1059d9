// Reads which names a module exports from its source, following re-exports through relative files.
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** What a name is to its user: something at runtime, or a type only. */
export type ExportKind = "type" | "value";

const declaration =
	/^export\s+(?:declare\s+)?(?:default\s+)?(?<keyword>async\s+function\*?|function\*?|abstract\s+class|class|const|let|interface|type)\s+(?<name>[\w$]+)/gm;
const list = /^export\s+(?<type>type\s+)?\{(?<names>[^}]*)\}(?:\s*from\s*"(?<from>[^"]+)")?/gm;
const star = /^export\s+(?<type>type\s+)?\*\s*(?:as\s+(?<name>[\w$]+)\s+)?from\s*"(?<from>[^"]+)"/gm;

/**
 * The exported names of the module in `file` with their kind. A name that a class or function shares with a type is
 * a value. A re-export from a package is a value unless it is marked `type`.
 */
export function readExportedNames(file: string): ReadonlyMap<string, ExportKind> {
	const text = readFileSync(file, "utf8").replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
	const found = new Map<string, ExportKind>();
	const add = (name: string, kind: ExportKind): void => {
		if (found.get(name) !== "value") found.set(name, kind);
	};
	const follow = (from: string): ReadonlyMap<string, ExportKind> =>
		from.startsWith(".") ? readExportedNames(resolve(dirname(file), from)) : new Map();
	const own = (): ReadonlyMap<string, ExportKind> => readDeclared(text);

	for (const { groups } of text.matchAll(declaration)) {
		add(groups?.name ?? "", kindOf(groups?.keyword ?? ""));
	}
	for (const { groups } of text.matchAll(list)) {
		const from = groups?.from;
		const origin = from === undefined ? own() : follow(from);
		for (const item of (groups?.names ?? "").split(",").map((name) => name.trim())) {
			if (item === "") continue;
			const marked = groups?.type !== undefined || item.startsWith("type ");
			const [inside = "", outside = inside] = item.replace(/^type\s+/, "").split(/\s+as\s+/);
			add(outside, marked ? "type" : (origin.get(inside) ?? "value"));
		}
	}
	for (const { groups } of text.matchAll(star)) {
		const marked = groups?.type !== undefined;
		if (groups?.name !== undefined) add(groups.name, marked ? "type" : "value");
		else for (const [name, kind] of follow(groups?.from ?? "")) add(name, marked ? "type" : kind);
	}
	return found;
}

function kindOf(keyword: string): ExportKind {
	return keyword === "interface" || keyword === "type" ? "type" : "value";
}

function readDeclared(text: string): ReadonlyMap<string, ExportKind> {
	const any = /^(?:export\s+)?(?<keyword>interface|type|class|const|function)\s+(?<name>[\w$]+)/gm;
	return new Map(
		[...text.matchAll(any)].map(({ groups }) => [groups?.name ?? "", kindOf(groups?.keyword ?? "")] as const),
	);
}
