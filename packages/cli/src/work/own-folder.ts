/** The folder of Holdfast inside a user's project, which should not appear among their changes. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

/** The name of the folder. */
export const ownFolder = ".holdfast";

/** Makes a folder where it is missing; ours has git ignore it. */
export function makeFolder(folder: string): void {
	if (existsSync(folder)) return;
	mkdirSync(folder, { recursive: true, mode: 0o700 });
	if (basename(folder) === ownFolder) writeFileSync(join(folder, ".gitignore"), "*\n");
}
