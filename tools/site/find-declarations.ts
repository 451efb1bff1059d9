// Finds the declaration behind an exported name: it follows imports and re-exports through files and packages. A member
// without a docstring has that of the interface or class which it comes from.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import {
	type Declaration,
	type DeclarationFile,
	type Member,
	readDeclarations,
} from "./read-declarations.ts";

/** A declaration, and the file that contains it. */
export interface Found {
	readonly path: string;
	readonly declaration: Declaration;
}

/** Finds declarations. Names of packages outside the repository have none. */
export interface Declarations {
	/** Returns the declaration of a name in the file at `path`. */
	find(path: string, name: string): Declaration | undefined;
	/**
	 * Returns the declarations that a name is made of, such as the alternatives of a union, and that cannot be imported.
	 * `exported` contains the declarations of all names that can.
	 */
	partsOf(path: string, name: string, exported: ReadonlySet<Declaration>): readonly Found[];
}

/** Returns a finder. `entries` contains the file of each entry of the packages by its specifier. */
export function declarationFinder(entries: ReadonlyMap<string, string>): Declarations {
	const files = new Map<string, DeclarationFile>();
	const known = new Map<string, Found>();
	const fileAt = (path: string): DeclarationFile => {
		if (!existsSync(path)) throw new Error(`${path} is not there: run npm run build first.`);
		const lang = path.endsWith(".d.ts") ? "dts" : "ts";
		const file = files.get(path) ?? readDeclarations(readFileSync(path, "utf8"), lang);
		files.set(path, file);
		return file;
	};
	const targetOf = (path: string, source: string): string | undefined =>
		source.startsWith(".") ? join(dirname(path), source.replace(/\.js$/, ".d.ts")) : entries.get(source);

	function locate(path: string, name: string): Found | undefined {
		const key = `${path} ${name}`;
		const found = known.get(key) ?? search(path, name);
		if (found !== undefined) known.set(key, found);
		return found;
	}

	function search(path: string, name: string): Found | undefined {
		const { declarations, passedOn, imports, wholes } = fileAt(path);
		const own = declarations.get(name);
		if (own !== undefined)
			return { path, declaration: inherit(own, (base) => locate(path, base)?.declaration) };
		const { source, name: there } = passedOn.get(name) ?? imports.get(name) ?? {};
		const sources = source === undefined ? wholes : [source];
		for (const target of sources.map((each) => targetOf(path, each))) {
			const found = target === undefined ? undefined : locate(target, there ?? name);
			if (found !== undefined) return found;
		}
		return undefined;
	}

	return {
		find: (path, name) => locate(path, name)?.declaration,
		partsOf(path, name, exported) {
			const start = locate(path, name);
			const parts = new Set<Found>(start === undefined ? [] : [start]);
			for (const { path, declaration } of parts)
				for (const name of declaration.refersTo) {
					const found = locate(path, name);
					if (found !== undefined && !exported.has(found.declaration)) parts.add(found);
				}
			return [...parts].filter((part) => part !== start && isShown(part.declaration));
		},
	};
}

/** Types that are computed from others are left out: they would explain nothing. */
function isShown({ kind, code, members }: Declaration): boolean {
	return (
		members.length > 0 || (kind === "type" && code.includes("|") && !/ (?:extends|in keyof) /.test(code))
	);
}

function inherit(declaration: Declaration, find: (base: string) => Declaration | undefined): Declaration {
	const { members, bases } = declaration;
	if (members.every(({ doc }) => doc !== "")) return declaration;
	const inherited = bases.flatMap((base) => find(base)?.members ?? []);
	const docOf = ({ name, doc }: Member): string =>
		doc !== "" ? doc : (inherited.find((each) => each.name === name && each.doc !== "")?.doc ?? "");
	return { ...declaration, members: members.map((member) => ({ ...member, doc: docOf(member) })) };
}
