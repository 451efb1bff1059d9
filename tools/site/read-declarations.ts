// Reads a name's docstring, signatures and members from the declaration files of a built package.
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

/** A member of an interface or class. */
export interface Member {
	/** `name?: Type`, on one line. */
	readonly signature: string;
	/** Its docstring, without the stars. */
	readonly doc: string;
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
}

/** The content of a declaration file. */
export interface DeclarationFile {
	readonly declarations: ReadonlyMap<string, Declaration>;
	/** Its re-exports by exported name: the source file, and the name there. */
	readonly passedOn: ReadonlyMap<string, { readonly source: string; readonly name: string }>;
}

const kinds: Readonly<Record<string, Declaration["kind"]>> = {
	TSDeclareFunction: "function",
	FunctionDeclaration: "function",
	ClassDeclaration: "class",
	VariableDeclaration: "const",
	TSInterfaceDeclaration: "interface",
	TSTypeAliasDeclaration: "type",
};

/** Reads a declaration file. Overloads are one declaration, and so are a value and a type with the same name. */
export function readDeclarations(text: string): DeclarationFile {
	const found = new Map<string, Declaration>();
	const passedOn = new Map<string, { source: string; name: string }>();
	let before = 0;
	for (const statement of parseAst(text, { lang: "dts" }).body as unknown as readonly Node[]) {
		const doc = docBefore(text.slice(before, statement.start));
		before = statement.end;
		if (statement.type === "ExportNamedDeclaration" && statement.source !== null) {
			const { value: source } = statement.source as unknown as { value: string };
			for (const { local, exported } of statement.specifiers as { local: Name; exported: Name }[])
				passedOn.set(exported.name, { source, name: local.name });
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
			});
		}
	}
	return { declarations: found, passedOn };
}

function namesOf(node: Node): readonly string[] {
	const { id, declarations } = node as {
		id?: { name?: string };
		declarations?: readonly { id: { name: string } }[];
	};
	return declarations?.map((each) => each.id.name) ?? (id?.name === undefined ? [] : [id.name]);
}

function describe(text: string, node: Node): { readonly code: string; readonly members: readonly Member[] } {
	const written = (from: number, to: number): string => withoutComments(text.slice(from, to));
	const alias = node.typeAnnotation as Node | undefined;
	const body = node.type === "TSTypeAliasDeclaration" ? alias : (node.body as Node | null | undefined);
	const list = (body?.type === "TSTypeLiteral" ? body.members : body?.body) as readonly Node[] | undefined;
	if (body === undefined || body === null || !Array.isArray(list))
		return { code: written(node.start, node.end), members: [] };
	return { code: written(node.start, body.start).trimEnd(), members: membersOf(text, body, list) };
}

function membersOf(text: string, body: Node, list: readonly Node[]): readonly Member[] {
	const members: Member[] = [];
	let before = body.start + 1;
	for (const member of list) {
		const doc = docBefore(text.slice(before, member.start));
		before = member.end;
		const signature = withoutComments(text.slice(member.start, member.end))
			.replaceAll(/\s+/g, " ")
			.replaceAll(/\( (?=\S)/g, "(")
			.replaceAll(/,? \)/g, ")")
			.replace(/[;,]$/, "")
			.replace(/^readonly /, "")
			.trim();
		// The compiler's output for private and internal members.
		if (/^(?:private\b|#private|"~)/.test(signature)) continue;
		members.push({ signature, doc });
	}
	return members;
}

function withoutComments(text: string): string {
	return text
		.replaceAll(/\/\*[\s\S]*?\*\//g, "")
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
