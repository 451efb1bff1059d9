// Lists where the public API takes an object of options: each parameter of an exported function, constructor or method
// whose type is an object of data. Read from the sources, so that a new one cannot be forgotten.
import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { parseAst } from "rolldown/parseAst";
import { readWorkspaces } from "../../tools/workspaces.ts";

// biome-ignore lint/suspicious/noExplicitAny: nodes of a syntax tree have no common type.
type Node = any;

interface Module {
	readonly file: string;
	/** Declarations by name; a function may have several. */
	readonly declared: ReadonlyMap<string, readonly Node[]>;
	/** Imported and re-exported names: where from, and under which name. */
	readonly elsewhere: ReadonlyMap<string, { readonly from: string; readonly name: string }>;
	readonly exported: ReadonlyMap<string, string>;
	readonly stars: readonly string[];
}

interface Found {
	readonly file: string;
	readonly nodes: readonly Node[];
}

/** A place where the public API takes options. */
export interface OptionsPlace {
	/** What takes them, as in `retry` or `Session.send`. */
	readonly of: string;
	/** The name of the parameter. */
	readonly parameter: string;
	/** The type as it is written. */
	readonly type: string;
	/** The entries that export it. */
	readonly entries: readonly string[];
	readonly members: readonly string[];
	/** Where it is declared. */
	readonly file: string;
}

/** Every place, ordered by entry and name. */
export function listOptions(root: string): readonly OptionsPlace[] {
	const workspaces = readWorkspaces(root);
	const entryFiles = new Map(
		workspaces.flatMap(({ folder, entries }) =>
			entries.map(({ specifier, source }) => [specifier, resolve(root, "packages", folder, source)] as const),
		),
	);
	const modules = new Map<string, Module>();
	const load = (file: string): Module => {
		const known = modules.get(file);
		if (known !== undefined) return known;
		const made = readModule(file);
		modules.set(file, made);
		return made;
	};
	const target = (file: string, from: string): string | undefined => {
		const path = from.startsWith(".") ? resolve(dirname(file), from) : entryFiles.get(from);
		return path !== undefined && existsSync(path) ? path : undefined;
	};
	const inside = (file: string, name: string): Found | undefined => {
		const module = load(file);
		const nodes = module.declared.get(name);
		if (nodes !== undefined) return { file, nodes };
		const there = module.elsewhere.get(name);
		const path = there && target(file, there.from);
		return there && path ? exportedOf(path, there.name) : undefined;
	};
	const exportedOf = (file: string, name: string): Found | undefined => {
		const module = load(file);
		const local = module.exported.get(name);
		if (local !== undefined) return inside(file, local);
		for (const from of module.stars) {
			const path = target(file, from);
			const found = path && exportedOf(path, name);
			if (found) return found;
		}
		return undefined;
	};
	const namesOf = (file: string): readonly string[] => {
		const { exported, stars } = load(file);
		return [
			...exported.keys(),
			...stars.flatMap((from) => {
				const path = target(file, from);
				return path === undefined ? [] : namesOf(path);
			}),
		];
	};

	/** The names of an object type's members; undefined for what is no object of data. */
	const members = (file: string, type: Node, depth = 0): readonly string[] | undefined => {
		if (type === undefined || type === null || depth > 8) return undefined;
		switch (type.type) {
			case "TSTypeLiteral":
				return ownMembers(type.members);
			case "TSInterfaceBody":
				return ownMembers(type.body);
			case "TSParenthesizedType":
				return members(file, type.typeAnnotation, depth + 1);
			case "TSIntersectionType":
			case "TSUnionType": {
				const all = (type.types as Node[]).map((each) => members(file, each, depth + 1));
				const some = all.filter((each) => each !== undefined);
				return some.length === 0 ? undefined : [...new Set(some.flat())];
			}
			case "TSTypeReference": {
				const name = type.typeName.name as string | undefined;
				const first = type.typeArguments?.params?.[0];
				if (["Readonly", "Partial", "Required", "NoInfer"].includes(name ?? ""))
					return members(file, first, depth + 1);
				if (name === "Omit" || name === "Pick") {
					const named = literalsOf(type.typeArguments.params[1]);
					const all = members(file, first, depth + 1);
					return all?.filter((each) => named.has(each) === (name === "Pick"));
				}
				const found = name === undefined ? undefined : inside(file, name);
				for (const node of found?.nodes ?? []) {
					if (node.type === "TSTypeAliasDeclaration")
						return members(found?.file ?? file, node.typeAnnotation, depth + 1);
					if (node.type === "TSInterfaceDeclaration") {
						const own = members(found?.file ?? file, node.body, depth + 1);
						const above = (node.extends ?? []).flatMap(
							(each: Node) =>
								members(
									found?.file ?? file,
									{ type: "TSTypeReference", typeName: each.expression, typeArguments: each.typeArguments },
									depth + 1,
								) ?? [],
						);
						return own && [...new Set([...own, ...above])];
					}
				}
				return undefined;
			}
			default:
				return undefined;
		}
	};

	const places = new Map<string, { place: OptionsPlace; entries: Set<string> }>();
	const take = (entry: string, of: string, file: string, parameters: readonly Node[]): void => {
		let isTaken = false;
		for (const parameter of parameters) {
			const bare = parameter.type === "TSParameterProperty" ? parameter.parameter : parameter;
			const left = bare.type === "AssignmentPattern" ? bare.left : bare;
			const type = left.typeAnnotation?.typeAnnotation;
			const names = members(file, type);
			if (names === undefined) continue;
			const name: string = left.type === "Identifier" ? left.name : isTaken ? "more" : "options";
			isTaken ||= name === "options";
			const written = readFileSync(file, "utf8").slice(type.start, type.end).replaceAll(/\s+/g, " ");
			const key = `${of}(${name}) ${file}`;
			const known = places.get(key);
			if (known) known.entries.add(entry);
			else
				places.set(key, {
					place: { of, parameter: name, type: written, entries: [], members: names, file },
					entries: new Set([entry]),
				});
		}
	};
	const takeMembers = (entry: string, of: string, file: string, body: readonly Node[]): void => {
		for (const member of body) {
			if (member.accessibility === "private" || member.key?.type === "PrivateIdentifier") continue;
			const name = member.key?.name ?? member.key?.value;
			if (member.type === "MethodDefinition" || member.type === "TSAbstractMethodDefinition")
				take(entry, member.kind === "constructor" ? `new ${of}` : `${of}.${name}`, file, member.value.params);
			else if (member.type === "TSMethodSignature") take(entry, `${of}.${name}`, file, member.params);
			else if (
				member.type === "TSPropertySignature" &&
				member.typeAnnotation?.typeAnnotation?.type === "TSFunctionType"
			)
				take(entry, `${of}.${name}`, file, member.typeAnnotation.typeAnnotation.params);
		}
	};
	for (const [entry, file] of entryFiles) {
		for (const name of new Set(namesOf(file))) {
			const found = exportedOf(file, name);
			for (const node of found?.nodes ?? []) {
				const where = found?.file ?? file;
				if (node.type.includes("Function")) take(entry, name, where, node.params);
				else if (node.type === "ClassDeclaration") takeMembers(entry, name, where, node.body.body);
				else if (node.type === "TSInterfaceDeclaration") takeMembers(entry, name, where, node.body.body);
				else if (node.type === "VariableDeclarator") {
					const annotated = node.id.typeAnnotation?.typeAnnotation;
					if (node.init?.type === "ArrowFunctionExpression") take(entry, name, where, node.init.params);
					else if (annotated?.type === "TSFunctionType") take(entry, name, where, annotated.params);
				}
			}
		}
	}
	return [...places.values()].map(({ place, entries }) => ({ ...place, entries: [...entries] }));
}

/** The strings of a union of them. */
function literalsOf(type: Node): ReadonlySet<string> {
	if (type.type === "TSLiteralType") return new Set([type.literal.value]);
	return new Set(
		type.type === "TSUnionType" ? type.types.flatMap((each: Node) => [...literalsOf(each)]) : [],
	);
}

function ownMembers(nodes: readonly Node[]): readonly string[] | undefined {
	if (nodes.some((node) => node.type === "TSIndexSignature")) return undefined;
	return nodes.flatMap((node) => (node.key?.name === undefined ? [] : [node.key.name]));
}

function readModule(file: string): Module {
	const program = parseAst(readFileSync(file, "utf8"), { lang: file.endsWith("x") ? "tsx" : "ts" }) as Node;
	const declared = new Map<string, Node[]>();
	const elsewhere = new Map<string, { from: string; name: string }>();
	const exported = new Map<string, string>();
	const stars: string[] = [];
	const declare = (node: Node): readonly string[] => {
		if (node.type === "VariableDeclaration")
			return node.declarations.flatMap((each: Node) => {
				if (each.id.type !== "Identifier") return [];
				declared.set(each.id.name, [each]);
				return [each.id.name];
			});
		const name = node.id?.name as string | undefined;
		if (name === undefined) return [];
		declared.set(name, [...(declared.get(name) ?? []), node]);
		return [name];
	};
	for (const node of program.body as Node[]) {
		if (node.type === "ImportDeclaration") {
			for (const each of node.specifiers) {
				const name = each.imported?.name ?? each.imported?.value ?? "default";
				elsewhere.set(each.local.name, { from: node.source.value, name });
			}
		} else if (node.type === "ExportAllDeclaration") {
			if (node.exported === null) stars.push(node.source.value);
		} else if (node.type === "ExportNamedDeclaration") {
			if (node.declaration) for (const name of declare(node.declaration)) exported.set(name, name);
			for (const each of node.specifiers ?? []) {
				const outside = each.exported.name;
				if (node.source)
					elsewhere.set(`export ${outside}`, { from: node.source.value, name: each.local.name });
				exported.set(outside, node.source ? `export ${outside}` : each.local.name);
			}
		} else if (node.type !== "ExportDefaultDeclaration") declare(node);
	}
	return { file, declared, elsewhere, exported, stars };
}
