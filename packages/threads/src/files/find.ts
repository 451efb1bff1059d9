// Finds files by their paths.

import type { FindResult } from "../types/index.ts";
import { compileGlob } from "./glob.ts";
import type { ThreadFiles } from "./thread-files.ts";

/** The paths of the files that match a glob, in order. @throws HoldfastError `invalid_pattern`. */
export async function findFiles(files: ThreadFiles, glob: string): Promise<FindResult> {
	const matches = compileGlob(glob);
	return { paths: (await files.files()).map(({ path }) => path).filter(matches) };
}
