// Writes docs/api/: the names each public entry exports, a list an entry. A test holds the lists against the code,
// so that a name is added to or taken from the public surface on purpose.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readExportedNames } from "./read-exports.ts";
import { readWorkspaces } from "./workspaces.ts";

/** The list of every entry by the name of its file in docs/api/. */
export function listPublicExports(root: string): ReadonlyMap<string, string> {
	return new Map(
		readWorkspaces(root).flatMap(({ folder, entries }) =>
			entries.map(({ specifier, source }) => {
				const names = readExportedNames(join(root, "packages", folder, source));
				const lines = [...names].map(([name, kind]) => `${kind} ${name}`).sort();
				const file = `${specifier.replaceAll("/", ".")}.txt`;
				return [file, [`# ${specifier}`, ...lines, ""].join("\n")];
			}),
		),
	);
}

function main(): void {
	const root = join(import.meta.dirname, "..");
	const folder = join(root, "docs/api");
	const lists = listPublicExports(root);
	mkdirSync(folder, { recursive: true });
	for (const name of readdirSync(folder)) if (!lists.has(name)) rmSync(join(folder, name));
	for (const [name, text] of lists) writeFileSync(join(folder, name), text);
}

if (import.meta.main) main();
