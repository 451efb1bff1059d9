/**
 * The directory that the assistant may read. Every path given to a tool passes through `resolvePath`, which resolves
 * links first and then rejects paths outside. Opened files are checked again: see open-inside.ts.
 */
import type { Stats } from "node:fs";
import { type FileHandle, realpath } from "node:fs/promises";
import { isAbsolute, relative, resolve, sep } from "node:path";
import { ToolRefusal } from "./assistant-tool.ts";
import { type JudgedPath, openInside } from "./open-inside.ts";

/** A path proven to be inside the root. */
export interface InsidePath {
	/** Absolute, with all links followed. */
	readonly absolute: string;
	/** As the model sees it: relative to the root, with forward slashes; "" is the root itself. */
	readonly relative: string;
	readonly kind: "file" | "directory";
	/** Bytes. */
	readonly size: number;
	/** Milliseconds since 1970; a cached text is valid while this is unchanged. */
	readonly modified: number;
}

/** Resolves a path from the model inside the root directory, or rejects it with a reason. */
export async function resolvePath(root: string, path: string): Promise<InsidePath> {
	if (path.includes("\0")) throw new ToolRefusal("path_invalid", "The path contains a NUL character.");
	const realRoot = await realpath(root);
	const wanted = resolve(realRoot, path);
	// Rejected by name before the disk is accessed, so that the model cannot probe files outside.
	if (!isInside(realRoot, wanted) && !isInside(resolve(root), wanted)) throw outside(path);
	const absolute = await realpath(wanted).catch((error: NodeJS.ErrnoException) => {
		throw unreadable(path, error);
	});
	if (!isInside(realRoot, absolute)) throw outside(path);
	const inside = { absolute, relative: relative(realRoot, absolute).split(sep).join("/") };
	const found = await statsOf(inside).catch((error: NodeJS.ErrnoException) => {
		throw unreadable(path, error);
	});
	if (!found.isFile() && !found.isDirectory()) throw noFile(path);
	return {
		...inside,
		kind: found.isFile() ? "file" : "directory",
		size: found.size,
		modified: found.mtimeMs,
	};
}

/**
 * Opens a file inside the root directory for reading; the caller closes it.
 * @throws ToolRefusal if the path leads out of the root, or is missing.
 */
export async function openPath(root: string, path: string): Promise<FileHandle> {
	const found = await resolvePath(root, path);
	return openInside(found).catch((error: NodeJS.ErrnoException) => {
		throw unreadable(path, error);
	});
}

async function statsOf(path: JudgedPath): Promise<Stats> {
	const handle = await openInside(path);
	try {
		return await handle.stat();
	} finally {
		await handle.close();
	}
}

function noFile(path: string): ToolRefusal {
	return new ToolRefusal("path_not_a_file", `"${path}" is neither a file nor a directory.`);
}

/** Whether `path` is the directory `root` or inside it. Both are absolute. */
export function isInside(root: string, path: string): boolean {
	const way = relative(root, path);
	return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

/** Creates the refusal of a path that leads out of the root. */
export function outside(path: string): ToolRefusal {
	return new ToolRefusal(
		"path_outside_root",
		`"${path}" leads out of the working directory. Only files inside it can be used; give relative paths.`,
	);
}

/** Creates the refusal of a path that cannot be read. */
export function unreadable(path: string, error: NodeJS.ErrnoException): ToolRefusal {
	if (error instanceof ToolRefusal) return error;
	if (error.code === "ENXIO") return noFile(path);
	if (error.code === "ENOENT" || error.code === "ENOTDIR")
		return new ToolRefusal("path_not_found", `There is no "${path}". Call list_files to see what there is.`);
	if (error.code === "ELOOP") return new ToolRefusal("path_invalid", `"${path}" is a circular link.`);
	return new ToolRefusal("path_unreadable", `"${path}" cannot be read: ${error.code ?? error.message}.`);
}
