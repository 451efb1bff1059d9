/** The files that a new project starts with. */
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";

/** Where they are, whether this runs from the sources or from one bundled file. */
export const templateFolder: string = join(packageFolder(), "template");

/** Their paths, with slashes. */
export async function listTemplate(): Promise<readonly string[]> {
	const entries = await readdir(templateFolder, { recursive: true, withFileTypes: true });
	return entries
		.filter((entry) => entry.isFile())
		.map((entry) => relative(templateFolder, join(entry.parentPath, entry.name)).split(sep).join("/"))
		.sort();
}

function packageFolder(): string {
	let folder = import.meta.dirname;
	while (!existsSync(join(folder, "package.json"))) folder = dirname(folder);
	return folder;
}
