// Locates this package.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/** Returns this package's folder, whether this runs from the sources or from a bundled file. */
export function packageFolder(): string {
	let folder = import.meta.dirname;
	while (!existsSync(join(folder, "package.json"))) folder = dirname(folder);
	return folder;
}
