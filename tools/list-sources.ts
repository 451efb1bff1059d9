// Lists the files of the repository that its own tools and tests read: what lies in the working tree, committed
// or not, without what is installed or built.
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

/** What is copied into projects of users is theirs, and is looked at by what tries such projects. */
const template = "packages/create-holdfast/templates/";

/** Paths of the TypeScript sources of the repository: packages, tests, benchmarks, tools. */
export function listSources(root: string): readonly string[] {
	return listFiles(root, ".ts").filter((file) => !file.endsWith(".d.ts") && !file.startsWith(template));
}
