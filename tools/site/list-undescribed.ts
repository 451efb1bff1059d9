// Lists what the reference would show without a description: names that the packages export, the types that these are made
// of, and the members of both.
import { join, relative } from "node:path";
import { readExports } from "../read-exports.ts";
import { readWorkspaces } from "../workspaces.ts";
import { declarationFinder } from "./find-declarations.ts";
import type { Declaration } from "./read-declarations.ts";

/**
 * Returns what has no docstring, as `packages/core/src/… Type.member`. Reads the sources, so that it needs no build. A
 * member needs no docstring if its name and type say everything.
 */
export function listUndescribed(root: string): readonly string[] {
	const places = readWorkspaces(root).flatMap(({ folder, entries }) =>
		entries.map(({ specifier, source }) => [specifier, join(root, "packages", folder, source)] as const),
	);
	const files = new Map(places);
	const { find, partsOf } = declarationFinder(files);
	const origins = places.flatMap(([, entry]) =>
		[...readExports(entry, files).values()].flatMap(({ origin }) => origin ?? []),
	);
	const exported = new Set(origins.flatMap(({ file, name }) => find(file, name) ?? []));
	const found = new Set<string>();
	for (const { file, name } of origins) {
		const own = find(file, name);
		const parts = own === undefined ? [] : [{ path: file, declaration: own }];
		for (const { path, declaration } of [...parts, ...partsOf(file, name, exported)])
			for (const name of undescribedIn(declaration)) found.add(`${relative(root, path)} ${name}`);
	}
	return [...found];
}

/** Overloads, and a getter with its setter, need one docstring. */
function undescribedIn({ name: owner, doc, members }: Declaration): readonly string[] {
	const described = new Set(members.flatMap(({ name, doc }) => (doc === "" ? [] : name)));
	const lacking = members.filter(({ name, needsNoDoc }) => needsNoDoc === undefined && !described.has(name));
	return [...(doc === "" ? [owner] : []), ...lacking.map(({ name }) => `${owner}.${name}`)];
}
