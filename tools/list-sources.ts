// Lists the repository's files for its own tools and tests: the working tree, committed or not, without installed and
// built files.
import { readdirSync } from "node:fs";

const skipped: ReadonlySet<string> = new Set(["node_modules", "dist", "coverage", "results"]);

/**
 * Paths of the files under `root` that end in `ending`, relative to it, with forward slashes and in order.
 * Folders whose name starts with a dot are left out.
 */
export function listFiles(root: string, ending: string): readonly string[] {
	const found: string[] = [];
	const walk = (folder: string): void => {
		for (const entry of readdirSync(`${root}/${folder}`, { withFileTypes: true })) {
			if (entry.name.startsWith(".") || skipped.has(entry.name)) continue;
			if (entry.isDirectory()) walk(`${folder}${entry.name}/`);
			else if (entry.name.endsWith(ending)) found.push(`${folder}${entry.name}`);
		}
	};
	walk("");
	return found.sort();
}

/** Files copied into users' projects are checked by the tests of such projects. */
const template = "packages/create-holdfast/templates/";

/** Paths of the TypeScript sources of the repository: packages, tests, benchmarks, tools. */
export function listSources(root: string): readonly string[] {
	return listFiles(root, ".ts").filter((file) => !file.endsWith(".d.ts") && !file.startsWith(template));
}
