// Paths of a thread's files: one canonical form, `/folder/name`, which never leaves the thread.
import { cutText } from "@holdfast/upp";
import { HoldfastError } from "holdfast";

/** Maximum length of a path in characters. */
const longestPath = 4_096;

/**
 * Returns the canonical form of a path: `a.txt`, `/a.txt` and `./a.txt` are all `/a.txt`; the root is `/`.
 * @throws HoldfastError `invalid_path` for a path that climbs above the root, and for an invalid one.
 */
export function threadPath(path: string): string {
	if (typeof path !== "string" || path === "" || path.length > longestPath || path.includes("\u0000"))
		throw invalidPath(path, `A path must be a string of 1 to ${longestPath} characters without NUL.`);
	const names: string[] = [];
	for (const name of path.split("/")) {
		if (name === "" || name === ".") continue;
		if (name !== "..") names.push(name);
		else if (names.pop() === undefined)
			throw invalidPath(path, "It is above the root of the thread's files.");
	}
	return `/${names.join("/")}`;
}

/** The same, but refuses the root. */
export function pathOfEntry(path: string): string {
	const canonical = threadPath(path);
	if (canonical === "/") throw invalidPath(path, "It is the root. Name a file or a folder.");
	return canonical;
}

/** Returns the last name of a canonical path. */
export function nameOf(path: string): string {
	return path.slice(path.lastIndexOf("/") + 1);
}

/** Returns the parent folders of a canonical path, outermost first, without the root. */
export function foldersAbove(path: string): readonly string[] {
	const folders: string[] = [];
	for (let at = path.indexOf("/", 1); at > 0; at = path.indexOf("/", at + 1)) folders.push(path.slice(0, at));
	return folders;
}

/** Returns the common prefix of the canonical paths of all entries in a folder. */
export function prefixOf(folder: string): string {
	return folder === "/" ? "/" : `${folder}/`;
}

function invalidPath(path: unknown, why: string): HoldfastError {
	const shown = typeof path === "string" ? JSON.stringify(cutText(path, 200)) : String(typeof path);
	return new HoldfastError("invalid_path", `The path ${shown} cannot be used. ${why}`);
}
