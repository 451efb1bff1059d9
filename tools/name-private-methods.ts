// Gives private methods their names back, which the minifier shortens together with private fields and has no option
// against: a stack trace names the methods it goes through.
import { decode, encode, type SourceMapSegment } from "@jridgewell/sourcemap-codec";
import { parseAst } from "rolldown/parseAst";

/** A bundled file with its source map. */
export interface MappedCode {
	readonly code: string;
	readonly map: { readonly mappings: string; readonly names: readonly string[] };
}

/** A node of the syntax tree, as far as it is looked at here. */
interface Node {
	readonly type: string;
	readonly start: number;
	readonly end: number;
	readonly [member: string]: unknown;
}

/** A private method of a class. */
interface Method {
	/** In the source, where the map says it for one of its places. */
	name: string | undefined;
	readonly places: { readonly start: number; readonly end: number }[];
}

/** The code with the names that its map knows of private methods, and the mappings that go with it. */
export function namePrivateMethods({ code, map }: MappedCode): { code: string; mappings: string } {
	const lines = decode(map.mappings);
	const starts = [0, ...[...code.matchAll(/\n/g)].map(({ index }) => index + 1)];

	const sourceNames = new Map<number, string>();
	for (const [line, segments] of lines.entries()) {
		for (const [column, , , , name] of segments) {
			const known = name === undefined ? undefined : map.names[name];
			if (known?.startsWith("#")) sourceNames.set((starts[line] ?? 0) + column, known);
		}
	}

	const methods: Method[] = [];
	/** `scopes`: by class, the innermost last, its private names, and which of them are methods. */
	const visit = (node: unknown, scopes: readonly ReadonlyMap<string, Method | undefined>[]): void => {
		if (Array.isArray(node)) for (const each of node) visit(each, scopes);
		if (typeof node !== "object" || node === null || !("type" in node)) return;
		const { type, start, end, name } = node as Node;
		if (type === "PrivateIdentifier") {
			const method = scopes.findLast((each) => each.has(name as string))?.get(name as string);
			method?.places.push({ start, end });
			if (method !== undefined) method.name ??= sourceNames.get(start);
		}
		let inner = scopes;
		if (type === "ClassBody") {
			const own = privateNames(node as Node);
			for (const method of own.values()) if (method !== undefined) methods.push(method);
			inner = [...scopes, own];
		}
		for (const value of Object.values(node)) visit(value, inner);
	};
	visit(parseAst(code), []);
	const changes = methods
		.flatMap(({ name, places }) => (name === undefined ? [] : places.map((place) => ({ ...place, name }))))
		.sort((one, other) => one.start - other.start);

	let named = "";
	let from = 0;
	for (const { start, end, name } of changes) {
		named += code.slice(from, start) + name;
		from = end;
	}
	const moved = lines.map((segments, line) => {
		const first = starts[line] ?? 0;
		const inLine = changes.filter(({ start }) => start >= first && start < (starts[line + 1] ?? code.length));
		let growth = 0;
		let next = 0;
		return segments.map(([column, ...source]): SourceMapSegment => {
			for (let change = inLine[next]; change && change.start < first + column; change = inLine[++next])
				growth += change.name.length - (change.end - change.start);
			return [column + growth, ...source] as SourceMapSegment;
		});
	});
	return { code: named + code.slice(from), mappings: encode(moved) };
}

/** The private names of a class, and which of them are methods. */
function privateNames(body: Node): ReadonlyMap<string, Method | undefined> {
	const methods = new Map<string, Method | undefined>();
	for (const { type, key } of body.body as readonly (Node & { readonly key?: Node })[]) {
		if (key?.type !== "PrivateIdentifier") continue;
		// A getter and a setter of one name are one.
		const made = methods.get(key.name as string) ?? { name: undefined, places: [] };
		methods.set(key.name as string, type === "MethodDefinition" ? made : undefined);
	}
	return methods;
}
