/**
 * Walks the root directory breadth first, in a fixed order, so that the same tree always produces the same list and files
 * near the top come first. Links are followed only to files inside the root.
 */
import { constants, type Dirent, existsSync } from "node:fs";
import { lstat, open, readdir, realpath } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { counted, grouped } from "./assistant-tool.ts";
import { type IgnoreFile, type IgnoreFiles, isIgnored, readIgnoreFile } from "./ignore-rules.ts";
import { type OpenFolder, openFolder, openInside } from "./open-inside.ts";
import { isInside } from "./root.ts";

/** A file that the assistant may list and search. */
export interface WalkedFile {
	/** Relative to the root, with forward slashes. */
	readonly path: string;
	/** The same as `path`; `absolute` has its links followed. */
	readonly relative: string;
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
	/** Lines of .gitignore files that were ignored. */
	readonly rulesLeftOut: number;
}

/** Limits of one walk: files and nested directories; beyond them the walk reports that it is incomplete. */
const FILE_LIMIT = 50_000;
const DEPTH_LIMIT = 100;
/** Bytes of a .gitignore file that are read. */
const RULES_LIMIT = 262_144;

const underWay = new Map<string, Promise<Walk>>();

/**
 * Lists the files below `directory` (relative to the root; "" for all). Concurrent calls share one walk, so no single
 * call can stop it; the number of files limits it.
 */
export function walkFiles(root: string, directory: string): Promise<Walk> {
	const key = `${root}\0${directory}`;
	const known = underWay.get(key);
	if (known) return known;
	const walk = walkAll(root, directory).finally(() => underWay.delete(key));
	underWay.set(key, walk);
	return walk;
}

/** Lists the omissions of a walk, for the first line of a result. */
export function walkNotes(walk: Walk): string[] {
	const notes: string[] = [];
	if (!walk.complete)
		notes.push("the directory is very large or deep and was not walked to its end: name a directory in it");
	if (walk.unreadable.length > 0)
		notes.push(`${grouped(walk.unreadable.length)} unreadable directories omitted`);
	if (walk.rulesLeftOut > 0)
		notes.push(
			`${counted(walk.rulesLeftOut, "line")} of .gitignore not used: too long, too costly or too many`,
		);
	return notes;
}

async function walkAll(root: string, directory: string): Promise<Walk> {
	const realRoot = await realpath(root);
	const files: WalkedFile[] = [];
	const unreadable: string[] = [];
	const inherited = await inheritedRules(realRoot, directory);
	let rulesLeftOut = inherited.reduce((sum, { leftOut }) => sum + leftOut, 0);
	let level: { path: string; rules: IgnoreFiles }[] = [{ path: directory, rules: inherited }];
	for (let depth = 0; level.length > 0; depth++) {
		if (depth > DEPTH_LIMIT) return { files, complete: false, unreadable, rulesLeftOut };
		const next: typeof level = [];
		for (const { path, rules: above } of level) {
			const looked = await lookInto(realRoot, path, above);
			if (looked === undefined) {
				unreadable.push(path);
				continue;
			}
			rulesLeftOut += looked.rulesLeftOut;
			for (const inner of looked.folders) next.push({ path: inner, rules: looked.rules });
			for (const file of looked.files) files.push(file);
			if (files.length >= FILE_LIMIT)
				return { files: files.slice(0, FILE_LIMIT), complete: false, unreadable, rulesLeftOut };
		}
		level = next;
	}
	return { files, complete: true, unreadable, rulesLeftOut };
}

/** The entries of a folder that are not ignored. */
interface FolderLook {
	readonly folders: readonly string[];
	readonly files: readonly WalkedFile[];
	readonly rules: IgnoreFiles;
	readonly rulesLeftOut: number;
}

/** Lists a folder while holding it open; undefined if it cannot be read. */
async function lookInto(realRoot: string, path: string, above: IgnoreFiles): Promise<FolderLook | undefined> {
	const opened = await openFolder({ absolute: join(realRoot, path), relative: path }).catch(() => undefined);
	if (opened === undefined) return undefined;
	try {
		const entries: Dirent[] = await readdir(opened.entry("."), { withFileTypes: true });
		entries.sort((left, right) => (left.name < right.name ? -1 : left.name > right.name ? 1 : 0));
		const hasRules = entries.some((entry) => entry.name === ".gitignore" && entry.isFile());
		const own = hasRules ? await ignoreFileOf(path, opened.entry(".gitignore")) : undefined;
		const rules = own === undefined ? above : [...above, own];
		const folders: string[] = [];
		const candidates: Promise<WalkedFile | undefined>[] = [];
		for (const entry of entries) {
			const inside = path === "" ? entry.name : `${path}/${entry.name}`;
			if (entry.isDirectory()) {
				if (!isIgnored(rules, inside, "directory")) folders.push(inside);
			} else if (!isIgnored(rules, inside, "file")) {
				if (entry.isFile()) candidates.push(fileIn(opened, realRoot, inside, entry.name));
				if (entry.isSymbolicLink()) candidates.push(linkedFile(realRoot, inside));
			}
		}
		const files = (await Promise.all(candidates)).filter((file) => file !== undefined);
		return { folders, files, rules, rulesLeftOut: own?.leftOut ?? 0 };
	} catch {
		return undefined;
	} finally {
		await opened.handle.close();
	}
}

async function fileIn(
	folder: OpenFolder,
	realRoot: string,
	path: string,
	name: string,
): Promise<WalkedFile | undefined> {
	const found = await lstat(folder.entry(name)).catch(() => undefined);
	if (!found?.isFile()) return undefined;
	const absolute = join(realRoot, path);
	return { path, relative: path, absolute, size: found.size, modified: found.mtimeMs };
}

/** Returns the file that a link leads to, if it is inside the root. */
async function linkedFile(realRoot: string, path: string): Promise<WalkedFile | undefined> {
	try {
		const absolute = await realpath(join(realRoot, path));
		if (!isInside(realRoot, absolute)) return undefined;
		const handle = await openInside({ absolute, relative: path });
		try {
			const found = await handle.stat();
			if (!found.isFile()) return undefined;
			return { path, relative: path, absolute, size: found.size, modified: found.mtimeMs };
		} finally {
			await handle.close();
		}
	} catch {
		return undefined;
	}
}

async function inheritedRules(realRoot: string, directory: string): Promise<IgnoreFiles> {
	const parts = directory === "" ? [] : directory.split("/");
	const bases = parts.map((_part, depth) => parts.slice(0, depth).join("/"));
	const own = bases.map((base) => ignoreFileOf(base, join(realRoot, base, ".gitignore")));
	return [...(await rulesAbove(realRoot)), ...(await Promise.all(own))];
}

/** Reads the rules of the repository that contains the root: `.git/info/exclude` and the folders above the root. */
async function rulesAbove(realRoot: string): Promise<IgnoreFiles> {
	const repository = repositoryOf(realRoot);
	if (repository === undefined) return [];
	const folders: string[] = [];
	for (let at = realRoot; at !== repository; ) {
		at = dirname(at);
		folders.unshift(at);
	}
	const sources = [
		{ folder: repository, file: join(repository, ".git/info/exclude") },
		...folders.map((folder) => ({ folder, file: join(folder, ".gitignore") })),
	];
	const found: IgnoreFile[] = [];
	for (const { folder, file } of sources) {
		const read = await ignoreFileOf("", file);
		const way = relative(folder, realRoot).split(sep).join("/");
		const toRoot = way === "" ? "" : `${way}/`;
		// If the user works in an ignored folder, its files are not ignored.
		if (toRoot !== "" && read.rules.test(toRoot).ignored) return [];
		found.push({ ...read, toRoot });
	}
	return found;
}

function repositoryOf(folder: string): string | undefined {
	for (let at = folder; ; at = dirname(at)) {
		if (existsSync(join(at, ".git"))) return at;
		if (dirname(at) === at) return undefined;
	}
}

/** Reads the rules in a directory's .gitignore; none without such a file. */
async function ignoreFileOf(base: string, file: string): Promise<IgnoreFile> {
	const bytes = await readStart(file);
	const text = bytes.toString("utf8");
	if (bytes.length < RULES_LIMIT) return readIgnoreFile(base, text);
	// The last line may be cut, and others may follow it: together they count as one.
	const read = readIgnoreFile(base, text.slice(0, text.lastIndexOf("\n") + 1));
	return { ...read, leftOut: read.leftOut + 1 };
}

/** Reads at most `RULES_LIMIT` bytes of a file; none if it cannot be read. */
async function readStart(path: string): Promise<Buffer> {
	const buffer = Buffer.alloc(RULES_LIMIT);
	try {
		const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
		try {
			const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
			return buffer.subarray(0, bytesRead);
		} finally {
			await handle.close();
		}
	} catch {
		return buffer.subarray(0, 0);
	}
}
