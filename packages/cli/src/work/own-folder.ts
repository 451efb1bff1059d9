/** Our own folder inside somebody's project, which should not show up among their changes. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

/** What the folder is called. */
export const ownFolder = ".holdfast";

/** Makes a folder where it is missing; ours has git ignore it. */
export function makeFolder(folder: string): void {
	if (existsSync(folder)) return;
	mkdirSync(folder, { recursive: true, mode: 0o700 });
	if (basename(folder) === ownFolder) writeFileSync(join(folder, ".gitignore"), "*\n");
}
