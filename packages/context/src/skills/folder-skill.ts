// Skills in folders. No path leaves the skill's folder: paths are checked as text, and again after links are resolved.
import type { FileHandle } from "node:fs/promises";
import { isHoldfastError } from "@holdfast/upp";
import { hashOf } from "../hash-of.ts";
import { type ParseSkillOptions, parseSkill } from "./parse-skill.ts";
import type { Skill } from "./skill.ts";
import {
	skillFileNotFound,
	skillInvalid,
	skillPathOutside,
	skillSourceMissing,
	skillTooLarge,
} from "./skill-error.ts";

/** How skills are read. */
export interface ReadSkillOptions extends Omit<ParseSkillOptions, "folder"> {
	readonly maxFileBytes: number;
	/** Receives the error of a skill that cannot be used. */
	readonly failed: (error: unknown) => void;
}

/** Maximum number of files of one skill. */
const mostFiles = 1_000;
/** A `SKILL.md` has at most this many bytes; the limit of the body is lower. */
const mostTextBytes = 4_000_000;

const node = async () => {
	const [fs, path] = await Promise.all([import("node:fs/promises"), import("node:path")]);
	return { ...fs, ...path };
};

/** Returns the skills in a folder: the folder itself if it has a `SKILL.md`, or the folders in it that have one. */
export async function skillsInFolder(folder: string, options: ReadSkillOptions): Promise<readonly Skill[]> {
	const { readdir, join, resolve } = await node();
	const root = resolve(folder);
	let names: readonly string[];
	try {
		names = (await readdir(root)).sort();
	} catch (cause) {
		throw skillSourceMissing(
			folder,
			(cause as { code?: string }).code === "ENOENT"
				? "the folder does not exist."
				: "the folder cannot be read.",
		);
	}
	const folders = names.includes("SKILL.md") ? [root] : names.map((name) => join(root, name));
	const found: Skill[] = [];
	for (const each of folders) {
		try {
			const skill = await readSkill(each, options);
			if (skill !== undefined) found.push(skill);
		} catch (error) {
			options.failed(error);
		}
	}
	return found;
}

/** Returns the folder of the skills of an installed package. Rejects with `skill_source_missing`. */
export async function folderOfPackage(name: string, from: string | undefined): Promise<string> {
	const { stat, join, resolve, dirname } = await node();
	const isThere = (path: string): Promise<boolean> =>
		stat(path).then(
			() => true,
			() => false,
		);
	if (!/^(?:@[\w.~-]+\/)?[\w~-][\w.~-]*$/.test(name))
		throw skillSourceMissing(`the package ${JSON.stringify(name)}`, "it is not a package name.");
	for (let at = resolve(from ?? "."); ; at = dirname(at)) {
		const folder = join(at, "node_modules", name);
		if (await isThere(join(folder, "SKILL.md"))) return folder;
		if (await isThere(join(folder, "skills"))) return join(folder, "skills");
		if (await isThere(folder))
			throw skillSourceMissing(`the package "${name}"`, "it has neither a folder `skills` nor a `SKILL.md`.");
		if (dirname(at) === at) throw skillSourceMissing(`the package "${name}"`, "it is not installed.");
	}
}

async function readSkill(folder: string, options: ReadSkillOptions): Promise<Skill | undefined> {
	const { realpath, basename } = await node();
	const name = basename(folder);
	const real = await realpath(folder).catch(() => undefined);
	if (real === undefined) return undefined;
	const bytes = await readWithin(real, name, "SKILL.md", mostTextBytes);
	if (bytes === undefined) return undefined;
	const text = textOf(bytes);
	if (text === undefined)
		throw skillInvalid({ skill: name }, "has a SKILL.md that is not UTF-8.", "Save it as UTF-8.");
	const { maxFileBytes, failed: _, ...parsing } = options;
	const parsed = parseSkill(text, { ...parsing, folder: name });
	const files = await filesOf(real, name);
	return {
		...parsed,
		source: folder,
		text,
		hash: await hashOf(text),
		files,
		async readFile(path) {
			checkPath(name, path);
			const content = await readWithin(real, name, path, maxFileBytes);
			if (content === undefined) throw skillFileNotFound(name, path);
			return content;
		},
		async readText() {
			const now = await readWithin(real, name, "SKILL.md", mostTextBytes);
			return (now && textOf(now)) ?? "";
		},
	};
}

/** Returns the paths of a skill's files. Rejects with `skill_path_outside` for a link that leaves the folder. */
async function filesOf(root: string, skill: string): Promise<readonly string[]> {
	const { readdir, realpath, stat, join, sep } = await node();
	const found: string[] = [];
	const folders = [""];
	for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
		for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
			const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
			if (entry.isSymbolicLink()) {
				const real = await realpath(join(root, path)).catch(() => undefined);
				if (real === undefined || !isWithin(root, real, sep)) throw skillPathOutside(skill, path);
				// A link to a folder could lead in a circle; its files are listed under their own paths.
				if ((await stat(real)).isFile()) found.push(path);
			} else if (entry.isDirectory()) {
				if (entry.name !== "node_modules" && entry.name !== ".git") folders.push(path);
			} else if (entry.isFile() && path !== "SKILL.md") found.push(path);
			if (found.length + folders.length > mostFiles)
				throw skillInvalid(
					{ skill },
					`has more than ${mostFiles} files.`,
					"Remove files that it does not refer to.",
				);
		}
	}
	return found.sort();
}

/** @throws HoldfastError `skill_path_outside` for a path that is not plainly below its folder. */
export function checkPath(skill: string, path: string): void {
	const parts = path.split("/");
	if (
		path === "" ||
		/[\\\0]|^[a-zA-Z]:/.test(path) ||
		parts.some((part) => part === "" || part === "." || part === "..")
	)
		throw skillPathOutside(skill, path);
}

function isWithin(root: string, path: string, separator: string): boolean {
	return path === root || path.startsWith(root.endsWith(separator) ? root : root + separator);
}

/** Returns the bytes of a file below a folder; undefined if there is none. */
async function readWithin(
	root: string,
	skill: string,
	path: string,
	limit: number,
): Promise<Uint8Array | undefined> {
	const { open, realpath, join, sep, constants } = await node();
	let real: string;
	try {
		real = await realpath(join(root, path));
	} catch {
		return undefined;
	}
	if (!isWithin(root, real, sep)) throw skillPathOutside(skill, path);
	// Not declared with `await using`, which webpack does not parse.
	let file: FileHandle | undefined;
	try {
		// The resolved path has no link left. If one has been put in its place since, it is not followed.
		file = await open(real, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
		const info = await file.stat();
		if (!info.isFile()) return undefined;
		if (info.size > limit) throw skillTooLarge(skill, `the file ${JSON.stringify(path)}`, info.size, limit);
		const content = await file.readFile();
		// A folder on the way may have become a link.
		if ((await realpath(real)) !== real) throw skillPathOutside(skill, path);
		return content;
	} catch (error) {
		if (isHoldfastError(error)) throw error;
		return undefined;
	} finally {
		await file?.close();
	}
}

/** Returns bytes as text; undefined if they are not UTF-8. */
export function textOf(bytes: Uint8Array): string | undefined {
	try {
		return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
	} catch {
		return undefined;
	}
}
