// Reads a name's docstring, signatures and members from the declaration files of a built package, or from its sources.
import { parseAst } from "rolldown/parseAst";

/** The used part of a node of the syntax tree. */
interface Node {
	readonly type: string;
	readonly start: number;
	readonly end: number;
	readonly [member: string]: unknown;
}

interface Name {
	readonly name: string;
}

/** A name of an import or a re-export. */
interface Specifier {
	readonly local: Name;
	readonly exported?: Name;
	readonly imported?: Name;
}

/** A member of an interface or class. */
export interface Member {
	readonly name: string;
	/** `name?: Type`, on one line. */
	readonly signature: string;
	/** Its docstring, without the stars. */
	readonly doc: string;
	/**
	 * Its name and type say everything: a literal (`type: "text"`), a method that the language calls, or a member that means
	 * the same everywhere, such as the id of a run.
	 */
	readonly needsNoDoc?: true;
}

/** A declared name. */
export interface Declaration {
	readonly name: string;
	readonly kind: "function" | "class" | "const" | "interface" | "type";
	/** Docstrings, without the stars; one for each overload that has its own. */
	readonly doc: string;
	/** Its declaration, without docstrings; that of an interface or class up to its body. */
	readonly code: string;
	/** Members of an interface, a class or an object type. */
	readonly members: readonly Member[];
	/** Names of the types that it extends or implements. */
	readonly bases: readonly string[];
	/** Names of the types that it is made of. */
	readonly refersTo: readonly string[];
}

/** The content of a declaration file. */
export interface DeclarationFile {
	readonly declarations: ReadonlyMap<string, Declaration>;
	/** Its re-exports by exported name. */
	readonly passedOn: ReadonlyMap<string, Elsewhere>;
	readonly imports: ReadonlyMap<string, Elsewhere>;
	/** Sources of which it exports all names. */
	readonly wholes: readonly string[];
}

/** A name that comes from another file or package. */
export interface Elsewhere {
	readonly source: string;
	readonly name: string;
}

/** Names of private members, and of those that carry types for the compiler. */
const hidden = /^["']?[#~]/;

/** Members whose names say what they are. */
const known: ReadonlySet<string> = new Set([
	...["agentId", "runId", "sessionId", "threadId", "toolCallId"].map((name) => `${name}: string`),
	"metadata?: ProviderMetadata",
]);

const kinds: Readonly<Record<string, Declaration["kind"]>> = {
	TSDeclareFunction: "function",
	FunctionDeclaration: "function",
	ClassDeclaration: "class",
	VariableDeclaration: "const",
	TSInterfaceDeclaration: "interface",
	TSTypeAliasDeclaration: "type",
};

/** Reads a declaration file. Overloads are one declaration, and so are a value and a type with the same name. */
export function readDeclarations(text: string, lang: "dts" | "ts" = "dts"): DeclarationFile {
	const found = new Map<string, Declaration>();
	const passedOn = new Map<string, Elsewhere>();
	const imports = new Map<string, Elsewhere>();
	const wholes: string[] = [];
	let before = 0;
	for (const statement of parseAst(text, { lang }).body as unknown as readonly Node[]) {
		const doc = docBefore(text.slice(before, statement.start));
		before = statement.end;
		const source = (statement.source as { value: string } | null | undefined)?.value;
		if (source !== undefined) {
			if (statement.type === "ExportAllDeclaration") wholes.push(source);
			for (const { local, exported, imported } of (statement.specifiers ?? []) as Specifier[])
				if (exported !== undefined) passedOn.set(exported.name, { source, name: local.name });
				else if (imported !== undefined) imports.set(local.name, { source, name: imported.name });
		}
		const node = (statement.declaration ?? statement) as Node;
		const kind = kinds[node.type];
		if (kind === undefined) continue;
		for (const name of namesOf(node)) {
			const { code, members } = describe(text, node);
			const other = found.get(name);
			found.set(name, {
				name,
				kind: other !== undefined && other.kind !== "interface" && other.kind !== "type" ? other.kind : kind,
				doc: [...new Set([other?.doc ?? "", doc])].filter((each) => each !== "").join("\n\n"),
				code: other === undefined ? code : `${other.code}\n${code}`,
				members: [...(other?.members ?? []), ...members],
				bases: [...(other?.bases ?? []), ...basesOf(node)],
				refersTo: [...new Set([...(other?.refersTo ?? []), ...typesIn(text, node)])],
			});
		}
	}
	return { declarations: found, passedOn, imports, wholes };
}

function basesOf(node: Node): readonly string[] {
	const {
		extends: bases = [],
		implements: ports = [],
		superClass,
	} = node as {
		extends?: readonly { expression: Partial<Name> }[];
		implements?: readonly { expression: Partial<Name> }[];
		superClass?: Partial<Name> | null;
	};
	const all = [superClass, ...[...bases, ...ports].map(({ expression }) => expression)];
	return all.flatMap((each) => each?.name ?? []);
}

/**
 * Returns the names of the types that a declaration is made of: those in its code, of its properties, and the options of its
 * methods. Its own type parameters and internal members are left out.
 */
function typesIn(text: string, declaration: Node): readonly string[] {
	const found = new Set(basesOf(declaration));
	const parameters = new Set<string>();
	const visit = (value: unknown, pattern?: RegExp): void => {
		if (Array.isArray(value)) for (const each of value) visit(each, pattern);
		if (typeof value !== "object" || value === null || !("type" in value)) return;
		const node = value as Node;
		if (node.type === "TSTypeParameter") parameters.add((node.name as Name).name);
		const name = (node.typeName as Partial<Name> | undefined)?.name;
		if (node.type === "TSTypeReference" && name !== undefined && pattern?.test(name) !== false)
			found.add(name);
		if (node.type === "TSIndexedAccessType" || node.operator === "keyof") return;
		// The conditions of a type are not parts of it.
		const { body, init, constraint, checkType, extendsType, ...rest } = node;
		for (const part of Object.values(rest)) visit(part, pattern);
	};
	const members = listOf(declaration);
	if (members === undefined) visit(declaration);
	else visit(declaration.typeParameters, /^$/);
	let before = members?.body.start ?? 0;
	for (const member of members?.list ?? []) {
		const isInternal = text.slice(before, member.start).includes("@internal");
		before = member.end;
		const isHidden = isInternal || member.accessibility === "private" || hidden.test(nameOf(text, member));
		if (isHidden || member.kind === "constructor") continue;
		if (member.type === "TSPropertySignature") visit(member.typeAnnotation);
		const { params } = (member.value ?? member) as { params?: unknown };
		visit(params, /Options$/);
	}
	return [...found].filter((name) => !parameters.has(name));
}

/** Returns the members of an interface, a class or an object type, and the node that contains them. */
function listOf(node: Node): { readonly body: Node; readonly list: readonly Node[] } | undefined {
	const alias = node.typeAnnotation as Node | undefined;
	const body = node.type === "TSTypeAliasDeclaration" ? alias : (node.body as Node | null | undefined);
	// In a source, a function has a body, too.
	if (body === undefined || body === null || body.type === "BlockStatement") return undefined;
	const list = (body.type === "TSTypeLiteral" ? body.members : body.body) as readonly Node[] | undefined;
	return Array.isArray(list) ? { body, list } : undefined;
}

function namesOf(node: Node): readonly string[] {
	const { id, declarations } = node as {
		id?: { name?: string };
		declarations?: readonly { id: { name: string } }[];
	};
	return declarations?.map((each) => each.id.name) ?? (id?.name === undefined ? [] : [id.name]);
}

function describe(text: string, node: Node): { readonly code: string; readonly members: readonly Member[] } {
	const found = listOf(node);
	if (found !== undefined) {
		const code = withoutComments(text.slice(node.start, found.body.start)).trimEnd();
		return { code, members: membersOf(text, found.body, found.list) };
	}
	// In the code of a union, comments describe its alternatives.
	if (node.type === "TSTypeAliasDeclaration")
		return { code: plain(text.slice(node.start, node.end)), members: [] };
	const { start } = (node.body as Node | null | undefined) ?? { start: node.end };
	return { code: withoutComments(text.slice(node.start, start)), members: [] };
}

function membersOf(text: string, body: Node, list: readonly Node[]): readonly Member[] {
	const members: Member[] = [];
	const add = (member: Node, before: number): void => {
		const found = text.slice(before, member.start);
		const name = nameOf(text, member);
		// The compiler's output contains private and internal members.
		const isHidden = member.accessibility === "private" || hidden.test(name);
		if (isHidden || found.includes("@internal")) return;
		const { body: code } = (member.value ?? {}) as { body?: Node | null };
		const signature = withoutComments(text.slice(member.start, code?.start ?? member.end))
			.replaceAll(/\s+/g, " ")
			.replaceAll(/\( (?=\S)/g, "(")
			.replaceAll(/,? \)/g, ")")
			.replace(/[;,]$/, "")
			.replace(/^(?:public )?readonly /, "")
			.trim();
		const needsNoDoc = isLiteral(member) || name.startsWith("[Symbol.") || known.has(signature);
		members.push({ name, signature, doc: docBefore(found), ...(needsNoDoc && { needsNoDoc }) });
	};
	let before = body.start + 1;
	for (const member of list) {
		if (member.type !== "StaticBlock") add(member, before);
		before = member.end;
		if (member.kind !== "constructor") continue;
		// In a source, a parameter of the constructor may declare a member.
		let last = member.start;
		for (const parameter of (member.value as { params?: readonly Node[] }).params ?? []) {
			if (parameter.type === "TSParameterProperty") add(parameter, last);
			last = parameter.end;
		}
	}
	return members;
}

/** Returns a member's name as it is written: `id`, `"a-b"`, `[Symbol.iterator]`; `constructor`; `[name: string]`; `()` for a call. */
function nameOf(text: string, member: Node): string {
	const parameter = member.parameter as Node | undefined;
	const left = (parameter?.left ?? parameter) as Node | undefined;
	const key = (member.key ?? left) as Node | undefined;
	if (key === undefined) return member.type === "TSIndexSignature" ? "[name: string]" : "()";
	const name = left === undefined ? text.slice(key.start, key.end) : String(key.name);
	return member.computed === true ? `[${name}]` : name;
}

/** Whether a property can have only one value, such as `type: "text"`, or none. */
function isLiteral({ typeAnnotation, value }: Node): boolean {
	const { type } = ((typeAnnotation as Node | null | undefined)?.typeAnnotation ?? value ?? {}) as Node;
	return ["TSLiteralType", "Literal", "TSUndefinedKeyword", "TSNeverKeyword"].includes(type);
}

function withoutComments(text: string): string {
	return plain(text.replaceAll(/\/\*[\s\S]*?\*\//g, ""));
}

function plain(text: string): string {
	return text
		.replaceAll(/^\s*\n/gm, "")
		.replace(/^(?:export |declare )+/, "")
		.trim();
}

/** Returns the last docstring before a declaration. */
function docBefore(text: string): string {
	const doc = [...text.matchAll(/\/\*\*([\s\S]*?)\*\//g)].at(-1)?.[1] ?? "";
	return doc
		.split("\n")
		.map((line) => line.replace(/^\s*\* ?/, ""))
		.join("\n")
		.trim();
}
