/**
 * Walks the root directory breadth first, in a fixed order, so that the same tree always gives the same
 * list and files near the top come first. Links are followed only to files inside the root.
 */
import { constants, type Dirent } from "node:fs";
import { open, readdir, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { extendIgnoreRules, type IgnoreRules, isIgnored } from "./ignore-rules.ts";
import { isInside } from "./root.ts";

/** A file the assistant may list and search. */
export interface WalkedFile {
	/** Relative to the root, with forward slashes. */
	readonly path: string;
	readonly absolute: string;
	/** Bytes. */
	readonly size: number;
	readonly modified: number;
}

/** The files found, and whether there were more than the limit. */
export interface Walk {
	readonly files: readonly WalkedFile[];
	readonly complete: boolean;
	/** Directories that could not be read. */
	readonly unreadable: readonly string[];
}

/** Files looked at in one walk; beyond it the walk says that it is incomplete. */
const FILE_LIMIT = 50_000;

const underWay = new Map<string, Promise<Walk>>();

/**
 * Lists the files below `directory` (relative to the root; "" for all). Calls side by side share one walk, so no one of
 * them can stop it; it is bounded by the number of files.
 */
export function walkFiles(root: string, directory: string): Promise<Walk> {
	const key = `${root}\0${directory}`;
	const known = underWay.get(key);
	if (known) return known;
	const walk = walkAll(root, directory).finally(() => underWay.delete(key));
	underWay.set(key, walk);
	return walk;
}

async function walkAll(root: string, directory: string): Promise<Walk> {
	const realRoot = await realpath(root);
	const files: WalkedFile[] = [];
	const unreadable: string[] = [];
	let level: { path: string; rules: IgnoreRules }[] = [
		{ path: directory, rules: await inheritedRules(realRoot, directory) },
	];
	while (level.length > 0) {
		const next: typeof level = [];
		for (const { path, rules: inherited } of level) {
			let entries: Dirent[];
			try {
				entries = await readdir(join(realRoot, path), { withFileTypes: true });
			} catch {
				unreadable.push(path);
				continue;
			}
			entries.sort((left, right) => (left.name < right.name ? -1 : left.name > right.name ? 1 : 0));
			const rules = entries.some((entry) => entry.name === ".gitignore" && entry.isFile())
				? extendIgnoreRules(inherited, path, await readSmall(join(realRoot, path, ".gitignore")))
				: inherited;
			const candidates: { path: string; isLink: boolean }[] = [];
			for (const entry of entries) {
				const inside = path === "" ? entry.name : `${path}/${entry.name}`;
				if (entry.isDirectory()) {
					if (!isIgnored(rules, inside, "directory")) next.push({ path: inside, rules });
				} else if ((entry.isFile() || entry.isSymbolicLink()) && !isIgnored(rules, inside, "file"))
					candidates.push({ path: inside, isLink: entry.isSymbolicLink() });
			}
			const found = await Promise.all(candidates.map((candidate) => fileAt(realRoot, candidate)));
			for (const file of found) if (file) files.push(file);
			if (files.length >= FILE_LIMIT)
				return { files: files.slice(0, FILE_LIMIT), complete: false, unreadable };
		}
		level = next;
	}
	return { files, complete: true, unreadable };
}

async function fileAt(
	realRoot: string,
	{ path, isLink }: { path: string; isLink: boolean },
): Promise<WalkedFile | undefined> {
	try {
		// The folders above were entered without following links, so only the last step can lead out.
		const absolute = isLink ? await realpath(join(realRoot, path)) : join(realRoot, path);
		if (isLink && !isInside(realRoot, absolute)) return undefined;
		const found = await stat(absolute);
		if (!found.isFile()) return undefined;
		return { path, absolute, size: found.size, modified: found.mtimeMs };
	} catch {
		return undefined;
	}
}

async function inheritedRules(realRoot: string, directory: string): Promise<IgnoreRules> {
	let rules: IgnoreRules = [];
	const parts = directory === "" ? [] : directory.split("/");
	for (let depth = 0; depth < parts.length; depth++) {
		const base = parts.slice(0, depth).join("/");
		rules = extendIgnoreRules(rules, base, await readSmall(join(realRoot, base, ".gitignore")));
	}
	return rules;
}

/** The first 256 KB of a file, or nothing when it cannot be read. */
async function readSmall(path: string): Promise<string> {
	try {
		const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
		try {
			const buffer = Buffer.alloc(262_144);
			const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
			return buffer.toString("utf8", 0, bytesRead);
		} finally {
			await handle.close();
		}
	} catch {
		return "";
	}
}
