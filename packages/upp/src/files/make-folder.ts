// Creates folders along a path in a bounded number of steps. Node's own recursive mkdir never returns on file systems that
// answer ENOENT although the parent folder exists, such as Linux's /proc.

// Found when first used, so that runtimes without a file system can load this module.
const files = (): typeof import("node:fs") => process.getBuiltinModule("node:fs");
const paths = (): typeof import("node:path") => process.getBuiltinModule("node:path");

/** How often a folder is tried: other processes may delete it, or the one above it, at the same time. */
const attempts = 10;

/**
 * Creates a folder and the folders above it, each only if it is missing. It works synchronously, and needs Node.
 * @param path an absolute path, or one relative to the working directory.
 * @param mode the permissions of each new folder. Default `0o700`: only this user may read it.
 * @throws Node's error, such as `EACCES`, `EEXIST` (a file has this name), `ENOENT` or `ENOTDIR`.
 * @example
 * ```ts
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { makeFolder } from "@holdfast/upp";
 *
 * makeFolder(join(tmpdir(), "holdfast-example", "sessions"));
 * ```
 */
export function makeFolder(path: string, mode = 0o700): void {
	for (let attempt = 1; ; attempt++) {
		try {
			files().mkdirSync(path, { mode });
			return;
		} catch (error) {
			if (isFolder(path)) return;
			const { code } = error as NodeJS.ErrnoException;
			const parent = paths().dirname(path);
			const isAbove = code === "ENOENT" && parent !== path;
			if (attempt === attempts || !(isAbove || (code === "EEXIST" && !exists(path)))) throw error;
			if (isAbove) makeFolder(parent, mode);
		}
	}
}

function isFolder(path: string): boolean {
	try {
		return files().statSync(path).isDirectory();
	} catch {
		return false;
	}
}

/** Whether anything has this name, even a link that leads nowhere. */
function exists(path: string): boolean {
	return files().lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
