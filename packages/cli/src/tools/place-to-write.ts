/**
 * Where the assistant may write: files inside the root directory, after all links are followed, and never inside what
 * belongs to version control, installed packages or ourselves. Nothing is made here.
 */
import { lstat, realpath } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { ToolRefusal } from "./assistant-tool.ts";
import { isSkippedDirectory } from "./ignore-rules.ts";
import { isInside, outside, resolvePath, unreadable } from "./root.ts";

/** A place for a file, proven to be inside the root. */
export interface PlaceToWrite {
	/** Absolute, with all links followed as far as there is something. */
	readonly absolute: string;
	/** As the model knows it: relative to the root, with forward slashes. */
	readonly relative: string;
	/** The root directory, with its links followed. */
	readonly root: string;
	readonly kind: "file" | "nothing";
	/** Bytes. */
	readonly size: number;
}

/** Finds the place of a path of the model inside the root directory, or refuses with a reason. */
export async function placeToWrite(root: string, path: string): Promise<PlaceToWrite> {
	if (path.includes("\0")) throw new ToolRefusal("path_invalid", "The path contains a NUL character.");
	if (path === "" || /[/\\]$/.test(path))
		throw new ToolRefusal("path_not_a_file", `"${path}" names no file. Give the path of a file.`);
	const realRoot = await realpath(root);
	const wanted = resolve(realRoot, path);
	// Refused by name before the disk is touched, so nothing about files outside can be learned.
	if (!isInside(realRoot, wanted) && !isInside(resolve(root), wanted)) throw outside(path);
	const absolute = await followLinks(wanted, path);
	if (!isInside(realRoot, absolute)) throw outside(path);
	const way = relative(realRoot, absolute).split(sep).join("/");
	const kept = way.split("/").find((part) => isSkippedDirectory(part.toLowerCase()));
	if (kept !== undefined)
		throw new ToolRefusal("path_protected", `"${path}" lies in ${kept}, where nothing is written.`);
	if (!(await exists(absolute))) return { absolute, relative: way, root: realRoot, kind: "nothing", size: 0 };
	const found = await resolvePath(realRoot, absolute);
	if (found.kind === "directory")
		throw new ToolRefusal("path_not_a_file", `"${path}" is a directory. Give the path of a file in it.`);
	return { absolute, relative: way, root: realRoot, kind: "file", size: found.size };
}

/** The path with all links followed; what does not exist yet is appended to the last folder that does. */
async function followLinks(wanted: string, path: string): Promise<string> {
	const missing: string[] = [];
	for (let at = wanted; ; at = dirname(at)) {
		try {
			return join(await realpath(at), ...missing);
		} catch (error) {
			const failure = error as NodeJS.ErrnoException;
			if (failure.code !== "ENOENT") throw unreadable(path, failure);
		}
		// A link to nothing leads to a place that cannot be judged.
		if (await exists(at)) throw new ToolRefusal("path_invalid", `"${path}" is a link that leads nowhere.`);
		missing.unshift(basename(at));
	}
}

function exists(absolute: string): Promise<boolean> {
	return lstat(absolute).then(
		() => true,
		(error: NodeJS.ErrnoException) => {
			if (error.code === "ENOENT") return false;
			throw error;
		},
	);
}
