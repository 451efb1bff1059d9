// Skills in packages of agents. The package.json lists their names and hashes, so that a changed copy is never used.
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { HoldfastError } from "@holdfast/upp";
import { filesIn, findPackages } from "../load/index.ts";
import type { PackageFile } from "./module-files.ts";

/** A skill to pack, such as `loadSkills()` of `@holdfast/context` returns. */
export interface PackableSkill {
	/** The name by which the model loads it. */
	readonly name: string;
	/** The whole `SKILL.md`. */
	readonly text: string;
	/** The paths of its other files, relative to its folder. */
	readonly files: readonly string[];
	/** Returns the content of one of `files`. */
	readFile(path: string): Promise<Uint8Array>;
}

/** A skill of a package that the project uses. */
export interface PackedSkill {
	/** The name by which the model loads it. */
	readonly name: string;
	/** Name of the package. */
	readonly packageId: string;
	/** Absolute path of its folder, which contains a `SKILL.md`. */
	readonly folder: string;
}

const place = "skills";

/** Returns the files of skills, and the hash of each skill by its name. @throws HoldfastError `pack_refused` */
export async function skillFiles(skills: readonly PackableSkill[]): Promise<{
	readonly files: readonly PackageFile[];
	readonly hashes: Readonly<Record<string, string>>;
}> {
	const files: PackageFile[] = [];
	const hashes: Record<string, string> = {};
	for (const { name, text, files: paths, readFile: read } of skills) {
		const parts = [name, ...paths.flatMap((path) => path.split("/"))];
		if (Object.hasOwn(hashes, name) || parts.some((part) => !isPlain(part)))
			throw new HoldfastError(
				"pack_refused",
				`The skill ${JSON.stringify(name)} has a name or path that is not valid, or another skill has the same name.`,
				{ data: { name } },
			);
		const contents = new Map<string, string | Uint8Array>([["SKILL.md", text]]);
		for (const path of paths) contents.set(path, await read(path));
		for (const [path, content] of contents)
			files.push({ path: `${place}/${name}/${path}`, content, imports: [], packages: [] });
		hashes[name] = hashOf(contents);
	}
	return { files, hashes };
}

/**
 * Returns the skills in the packages that a project uses, sorted by package. Pass their folders to `skills()` of
 * `@holdfast/context`.
 *
 * @param directory the folder that contains `agents/`
 * @throws HoldfastError `packed_skill_changed` if a skill differs from the one that was packed
 */
export async function packedSkills(directory: string): Promise<readonly PackedSkill[]> {
	const found: PackedSkill[] = [];
	const { sources } = await findPackages(directory);
	for (const { package: declared } of sources) {
		if (declared === undefined) continue;
		const { packageId, file, skills } = declared;
		for (const [name, hash] of Object.entries(skills)) {
			const folder = join(dirname(file), place, name);
			if (!isPlain(name) || hashOf(await contentsOf(folder)) !== hash)
				throw new HoldfastError(
					"packed_skill_changed",
					`The skill ${JSON.stringify(name)} of the package ${packageId} is not the one that was packed. Install the package again, or unpack it to change the skill.`,
					{ data: { name, packageId, folder } },
				);
			found.push({ name, packageId, folder });
		}
	}
	return found;
}

async function contentsOf(folder: string): Promise<ReadonlyMap<string, Uint8Array>> {
	const contents = new Map<string, Uint8Array>();
	for (const file of await filesIn(folder))
		contents.set(relative(folder, file).split(sep).join("/"), await readFile(file));
	return contents;
}

function hashOf(contents: ReadonlyMap<string, string | Uint8Array>): string {
	const lines = [...contents].map(([path, content]) => `${sha256(content)} ${path}`).sort();
	return sha256(lines.join("\n"));
}

function sha256(content: string | Uint8Array): string {
	return createHash("sha256").update(content).digest("hex");
}

/** Whether a name is a single part of a path. */
function isPlain(name: string): boolean {
	return name !== "" && name !== "." && name !== ".." && !/[\\/\0]/.test(name);
}
