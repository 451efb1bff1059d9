/**
 * Where the assistant may write: files inside the root directory, after all links are followed, and never inside version
 * control, installed packages or Holdfast's own files. Nothing is created here.
 */
import { lstat, realpath } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { ToolRefusal } from "./assistant-tool.ts";
import { isSkippedDirectory } from "./ignore-rules.ts";
import { isInside, outside, resolvePath, unreadable } from "./root.ts";

/** A target path, proven to be inside the root. */
export interface PlaceToWrite {
	/** Absolute, with the links of its existing part followed. */
	readonly absolute: string;
	/** As the model sees it: relative to the root, with forward slashes. */
	readonly relative: string;
	/** The root directory, with its links followed. */
	readonly root: string;
	readonly kind: "file" | "nothing";
	/** Bytes. */
	readonly size: number;
}

/** Resolves a path from the model inside the root directory, or rejects it with a reason. */
export async function placeToWrite(root: string, path: string): Promise<PlaceToWrite> {
	if (path.includes("\0")) throw new ToolRefusal("path_invalid", "The path contains a NUL character.");
	if (path === "" || /[/\\]$/.test(path))
		throw new ToolRefusal("path_not_a_file", `"${path}" does not name a file. Give the path of a file.`);
	const realRoot = await realpath(root);
	const wanted = resolve(realRoot, path);
	// Rejected by name before the disk is accessed, so that the model cannot probe files outside.
	if (!isInside(realRoot, wanted) && !isInside(resolve(root), wanted)) throw outside(path);
	const absolute = await followLinks(wanted, path);
	if (!isInside(realRoot, absolute)) throw outside(path);
	const way = relative(realRoot, absolute).split(sep).join("/");
	const kept = way.split("/").find((part) => isSkippedDirectory(part.toLowerCase()));
	if (kept !== undefined)
		throw new ToolRefusal("path_protected", `"${path}" is in ${kept}, which is protected from changes.`);
	if (!(await exists(absolute))) return { absolute, relative: way, root: realRoot, kind: "nothing", size: 0 };
	const found = await resolvePath(realRoot, absolute);
	if (found.kind === "directory")
		throw new ToolRefusal("path_not_a_file", `"${path}" is a directory. Give the path of a file in it.`);
	return { absolute, relative: way, root: realRoot, kind: "file", size: found.size };
}

/** Follows all links of the path; the part that does not exist yet is appended to the last existing folder. */
async function followLinks(wanted: string, path: string): Promise<string> {
	const missing: string[] = [];
	for (let at = wanted; ; at = dirname(at)) {
		try {
			return join(await realpath(at), ...missing);
		} catch (error) {
			const failure = error as NodeJS.ErrnoException;
			if (failure.code !== "ENOENT") throw unreadable(path, failure);
		}
		// A dangling link cannot be checked.
		if (await exists(at)) throw new ToolRefusal("path_invalid", `"${path}" is a broken link.`);
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
