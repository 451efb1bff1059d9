// Reads the AGENTS.md files that apply to a folder. A file that cannot be used is left out, with a notice.
import type { FileHandle } from "node:fs/promises";
import { cutText, HoldfastError } from "@holdfast/upp";

/** The name of the files. */
const fileName = "AGENTS.md";
/** A larger file is not read, in bytes. */
const mostBytes = 1_000_000;
/** How many folders above the nearest one can have a file that is used. */
const mostFiles = 16;

/** A file with instructions for agents. */
export interface AgentsMdFile {
	/** Relative to `folder`, with forward slashes, such as `../AGENTS.md`. */
	readonly path: string;
	/** Its text without white space at both ends, cut to `maxCharacters`. */
	readonly text: string;
}

/** The files that apply to a folder. */
export interface AgentsMdFound {
	/** The nearest one last. */
	readonly files: readonly AgentsMdFile[];
	/**
	 * Files that are not used, with the code `agents_md_unusable`, and files of which only the beginning is used, with
	 * `agents_md_cut`.
	 */
	readonly notices: readonly HoldfastError[];
}

/** The folders between which files apply. Both paths are absolute. */
export interface AgentsMdFolders {
	readonly root: string;
	readonly folder: string;
	/** Characters of one file that are used. */
	readonly maxCharacters: number;
}

const node = async () => {
	const [fs, path] = await Promise.all([import("node:fs/promises"), import("node:path")]);
	return { ...fs, ...path };
};

/** Returns a folder as an absolute path, and the root: the given one, or the nearest parent with `.git`. */
export async function foldersOf(folder: string, root: string | undefined): Promise<[string, string]> {
	const { resolve, dirname, join, stat } = await node();
	const at = resolve(folder);
	if (root !== undefined) return [at, resolve(root)];
	for (let above = at; ; above = dirname(above)) {
		const found = await stat(join(above, ".git")).catch(() => undefined);
		if (found !== undefined) return [at, above];
		if (dirname(above) === above) return [at, at];
	}
}

/** Returns the files from the root down to the folder. */
export async function filesDownTo(folders: AgentsMdFolders): Promise<AgentsMdFound> {
	const { dirname } = await node();
	const { root, folder } = folders;
	const chain: string[] = [];
	for (let at = folder; chain.length < mostFiles; at = dirname(at)) {
		chain.unshift(at);
		if (at === root || dirname(at) === at) break;
	}
	return readAll(chain, folders);
}

/** Returns the files of the folders that lead to a path inside the root and that do not apply to `folder` itself. */
export async function filesBelow(path: string, folders: AgentsMdFolders): Promise<AgentsMdFound> {
	const { resolve, dirname, relative, isAbsolute, sep } = await node();
	const { root, folder } = folders;
	const isWithin = (outer: string, inner: string): boolean => {
		const way = relative(outer, inner);
		return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
	};
	const chain: string[] = [];
	for (let at = resolve(folder, path); chain.length < mostFiles; at = dirname(at)) {
		if (!isWithin(root, at) || isWithin(at, folder)) break;
		chain.unshift(at);
	}
	return readAll(chain, folders);
}

async function readAll(chain: readonly string[], folders: AgentsMdFolders): Promise<AgentsMdFound> {
	const { join, relative, sep } = await node();
	const files: AgentsMdFile[] = [];
	const notices: HoldfastError[] = [];
	for (const at of chain) {
		const path = relative(folders.folder, join(at, fileName)).split(sep).join("/");
		const read = await readText(join(at, fileName), folders.root);
		if (read === undefined) continue;
		if ("refused" in read) {
			notices.push(unusable(path, read.refused));
			continue;
		}
		const text = read.text.trim();
		if (text === "") continue;
		const cut = cutText(text, folders.maxCharacters);
		files.push({ path, text: cut });
		if (cut !== text) notices.push(wasCut(path, text.length, folders.maxCharacters));
	}
	return { files, notices };
}

type Read = { readonly text: string } | { readonly refused: string };

/** Returns the text of a file, or why it is refused; undefined if there is none. */
async function readText(path: string, root: string): Promise<Read | undefined> {
	const { lstat, open, realpath, sep, constants } = await node();
	const code = (error: unknown): string => (error as { code?: string }).code ?? "unknown error";
	const entry = await lstat(path).catch((error: unknown) => code(error));
	// A missing file, a path that leads through a file, or one with a name that no file can have.
	if (entry === "ENOENT" || entry === "ENOTDIR" || entry === "ENAMETOOLONG") return undefined;
	if (typeof entry === "string") return { refused: `it cannot be read (${entry})` };
	let file: FileHandle | undefined;
	try {
		const real = await realpath(path);
		const top = await realpath(root);
		if (!real.startsWith(top.endsWith(sep) ? top : top + sep))
			return { refused: "it is a link that leads out of the repository" };
		// The resolved path has no link left. If one has been put in its place since, it is not followed.
		file = await open(real, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
		const info = await file.stat();
		if (!info.isFile())
			return { refused: info.isDirectory() ? "it is a folder" : "it is not a regular file" };
		if (info.size > mostBytes) return { refused: `it has ${info.size} bytes, and the limit is ${mostBytes}` };
		const bytes = await file.readFile();
		// A folder on the way may have become a link.
		if ((await realpath(real)) !== real) return { refused: "it is a link that leads out of the repository" };
		if (bytes.includes(0)) return { refused: "it is a binary file" };
		return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
	} catch (error) {
		if (error instanceof TypeError) return { refused: "it is not valid UTF-8" };
		if (code(error) === "ENOENT") return { refused: "it is a link to a file that does not exist" };
		return { refused: `it cannot be read (${code(error)})` };
	} finally {
		await file?.close();
	}
}

function unusable(path: string, why: string): HoldfastError {
	return new HoldfastError("agents_md_unusable", `${path} is not used: ${why}.`, { data: { path } });
}

function wasCut(path: string, size: number, limit: number): HoldfastError {
	return new HoldfastError(
		"agents_md_cut",
		`Only the first ${limit} of the ${size} characters of ${path} are used.`,
		{ data: { path, size, limit } },
	);
}
