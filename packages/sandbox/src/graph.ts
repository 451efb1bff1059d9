// Resolves module specifiers: relative ones in the given graph, bare ones in the imports; all others are unresolved.

/** Explains why a specifier cannot be resolved. */
export class Unresolved extends Error {
	readonly specifier: string;
	constructor(specifier: string, message: string) {
		super(message);
		this.specifier = specifier;
	}
}

/** The modules of a run. */
export interface Graph {
	readonly filename: string;
	readonly modules: ReadonlyMap<string, string>;
	readonly imports: ReadonlyMap<string, readonly string[]>;
}

/** Normalises a path relative to the root of the graph to the form `./a/b.js`; undefined if it leaves the root. */
export function normalizePath(path: string): string | undefined {
	const parts: string[] = [];
	for (const part of path.split("/")) {
		if (part === "" || part === ".") continue;
		if (part !== "..") parts.push(part);
		else if (parts.pop() === undefined) return undefined;
	}
	return `./${parts.join("/")}`;
}

function isRelative(specifier: string): boolean {
	return /^\.{1,2}\//.test(specifier);
}

/** Returns the name of the module that a specifier in another module refers to. Throws `Unresolved`. */
export function resolve({ filename, modules, imports }: Graph, from: string, specifier: string): string {
	if (isRelative(specifier)) {
		const base = from === filename && !modules.has(from) ? entryPath(filename) : from;
		const path = normalizePath(`${base.slice(0, base.lastIndexOf("/") + 1)}${specifier}`);
		if (path === undefined)
			throw new Unresolved(specifier, `The module "${specifier}" is above the root of the module graph`);
		if (modules.has(path)) return path;
		if (path === normalizePath(entryPath(filename))) return filename;
		throw new Unresolved(specifier, `The module graph has no module "${path}"`);
	}
	if (/^[a-z][a-z\d+.-]*:/i.test(specifier))
		throw new Unresolved(specifier, `"${specifier}" is a URL, and modules are never loaded from URLs`);
	if (imports.has(specifier)) return specifier;
	throw new Unresolved(specifier, `The import "${specifier}" was not provided`);
}

/** A label that is not a path, such as `<runCode>`, is at the root. */
function entryPath(filename: string): string {
	return filename.includes("/") ? filename : `./${filename}`;
}

/** Returns the source of the module that exports the host's values for a bare specifier. */
export function importSource(handOver: string, specifier: string, names: readonly string[]): string {
	const from = `globalThis[${JSON.stringify(handOver)}].imports[${JSON.stringify(specifier)}]`;
	const reads = names.map((name, index) => `const v${index} = ${from}[${JSON.stringify(name)}];`);
	const exported = names.map((name, index) => `v${index} as ${JSON.stringify(name)}`);
	return `${reads.join("")}export {${exported.join(",")}};`;
}
