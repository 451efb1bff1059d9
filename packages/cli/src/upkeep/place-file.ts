/** Moves a complete file to its location. An existing file stays until then, and is replaced only on request. */
import {
	chmodSync,
	closeSync,
	existsSync,
	fsyncSync,
	linkSync,
	openSync,
	realpathSync,
	renameSync,
	statSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { UpkeepError } from "./upkeep-error.ts";

/** How to treat an existing file. */
export type Existing = "keep" | "replace";

/** Returns the real path of a location whose folder exists. */
export function realPlace(to: string): string {
	return existsSync(to) ? realpathSync(to) : join(realpathSync(dirname(to)), basename(to));
}

/**
 * Checks a location; `instead` suggests an alternative to an existing file. @throws UpkeepError if the location is not
 * allowed.
 */
export function checkPlace(to: string, existing: Existing, instead: string): void {
	if (existsSync(to) && statSync(to).isDirectory())
		throw new UpkeepError(`${to} is a folder. Give the path of a file.`);
	if (existsSync(to) && existing === "keep") throw taken(to, instead);
	// The log of another database would be mistaken for one of the new file.
	const target = realPlace(to);
	const log = ["-wal", "-journal"].find((suffix) => existsSync(target + suffix));
	if (log !== undefined)
		throw new UpkeepError(
			`The file ${target}${log} exists: a database of that name is open, or was not closed. Give another path.`,
		);
}

/**
 * Moves a file to its location, readable by this user only. @throws UpkeepError if another file appeared there in the
 * meantime.
 */
export function placeFile(partial: string, to: string, existing: Existing, instead: string): void {
	chmodSync(partial, 0o600);
	if (existing === "replace") {
		renameSync(partial, to);
		return;
	}
	try {
		// Unlike a rename, a link never replaces a file.
		linkSync(partial, to);
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "EEXIST") throw taken(to, instead);
		renameSync(partial, to); // A file system without links.
	}
}

function taken(to: string, instead: string): UpkeepError {
	return new UpkeepError(`The file ${to} already exists. ${instead}`);
}

/** Flushes a file or a folder to disk. */
export function syncFile(path: string): void {
	const file = openSync(path, "r");
	try {
		fsyncSync(file);
	} catch {
		// Some file systems do not support this: the copy exists, with their guarantees.
	} finally {
		closeSync(file);
	}
}
