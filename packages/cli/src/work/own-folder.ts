/** Holdfast's folder inside a user's project, which should not appear among the user's changes. */
import { existsSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { makeFolder } from "@holdfast/upp";

/** The name of the folder. */
export const ownFolder = ".holdfast";

/** Creates a folder if it is missing; Holdfast's own folder is set to be ignored by git. */
export function makeOwnFolder(folder: string): void {
	if (existsSync(folder)) return;
	makeFolder(folder);
	if (basename(folder) === ownFolder) writeFileSync(join(folder, ".gitignore"), "*\n");
}
