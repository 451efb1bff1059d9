// Loads skills from all their sources, in order, and refuses two of one name.
import { checkOptions, HoldfastTypeError, isHoldfastError, optionNames } from "@holdfast/upp";
import { hashOf } from "../hash-of.ts";
import { checkPath, folderOfPackage, type ReadSkillOptions, skillsInFolder } from "./folder-skill.ts";
import { parseSkill } from "./parse-skill.ts";
import type { InlineSkill, Skill, SkillPackage, SkillSource } from "./skill.ts";
import { skillDuplicate, skillFileNotFound, skillTooLarge } from "./skill-error.ts";

/** Options of `loadSkills`. */
export interface LoadSkillsOptions {
	/** Folders that contain skills, one folder for each, or that are a skill. Default: none. */
	readonly folders?: readonly string[];
	/** Further sources, after the folders. Default: none. */
	readonly sources?: readonly SkillSource[];
	/** How strictly a `SKILL.md` is read, as in `parseSkill`. Default `strict`. */
	readonly format?: "strict" | "lenient";
	/** Maximum characters of a body. Default 100,000. */
	readonly maxBodyCharacters?: number;
	/** Maximum bytes of each further file. Default 1,000,000. */
	readonly maxFileBytes?: number;
	/**
	 * Receives the error of each skill that cannot be used, which is then left out; of two skills with one name, the
	 * first is kept. Default: the first error rejects.
	 */
	readonly onInvalid?: (error: Error) => void;
}

/** The members of `LoadSkillsOptions`. */
export const loadSkillsMembers = {
	folders: "texts",
	sources: "list",
	format: ["strict", "lenient"],
	maxBodyCharacters: "number",
	maxFileBytes: "number",
	onInvalid: "function",
} as const;

const loadSkillsNames = optionNames<LoadSkillsOptions>(loadSkillsMembers);

/**
 * Loads skills and returns them in the order of their sources.
 *
 * Rejects with the errors of `parseSkill`, `skill_duplicate`, `skill_path_outside` for a link that leaves a skill's folder,
 * `skill_source_missing` for a folder or package that does not exist, and `invalid_option`.
 * @example
 * import { loadSkills } from "@holdfast/context";
 *
 * const text = "---\nname: tidy-up\ndescription: Tidies a folder.\n---\nMove files by kind.\n";
 * const [skill] = await loadSkills({ sources: [{ text }] });
 * console.log(skill?.name); // tidy-up
 */
export async function loadSkills(options: LoadSkillsOptions): Promise<readonly Skill[]> {
	checkOptions(options, loadSkillsNames, { of: "loadSkills()" });
	return readSkills(options);
}

/** Loads skills with options that were checked. */
export async function readSkills(options: LoadSkillsOptions): Promise<readonly Skill[]> {
	const { folders = [], sources = [], onInvalid, maxFileBytes = 1_000_000 } = options;
	if (folders.length + sources.length === 0)
		throw new HoldfastTypeError("invalid_option", "Skills need a source: set `folders` or `sources`.");
	const found = new Map<string, Skill>();
	const failed = (error: unknown): void => {
		if (onInvalid === undefined || !isHoldfastError(error)) throw error;
		onInvalid(error);
	};
	const reading: ReadSkillOptions = {
		...(options.format && { format: options.format }),
		...(options.maxBodyCharacters && { maxBodyCharacters: options.maxBodyCharacters }),
		maxFileBytes,
		failed,
	};
	const add = (skills: readonly Skill[]): void => {
		for (const skill of skills) {
			const known = found.get(skill.name);
			if (known === undefined) found.set(skill.name, skill);
			else failed(skillDuplicate(skill.name, known.source, skill.source));
		}
	};
	for (const folder of folders) await skillsInFolder(folder, reading).then(add, failed);
	for (const source of sources) {
		const given = typeof source === "function" ? await source() : [source];
		for (const each of given) await skillsOf(each, reading).then(add, failed);
	}
	return [...found.values()];
}

async function skillsOf(
	source: InlineSkill | Skill | SkillPackage,
	reading: ReadSkillOptions,
): Promise<readonly Skill[]> {
	if (typeof source !== "object" || source === null || !("text" in source || "package" in source))
		throw new HoldfastTypeError(
			"invalid_option",
			"A source of skills is { text }, { package }, a loaded skill, or a function that returns a list of them.",
		);
	if ("package" in source) return skillsInFolder(await folderOfPackage(source.package, source.from), reading);
	if ("readFile" in source) return [source];
	return [await inlineSkill(source, reading)];
}

async function inlineSkill(
	{ text, files = {} }: InlineSkill,
	{ maxFileBytes, failed: _, ...parsing }: ReadSkillOptions,
): Promise<Skill> {
	const parsed = parseSkill(text, parsing);
	const { name } = parsed;
	const contents = new Map(
		Object.entries(files).map(([path, content]): [string, Uint8Array] => {
			checkPath(name, path);
			const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
			if (bytes.length > maxFileBytes)
				throw skillTooLarge(name, `the file ${JSON.stringify(path)}`, bytes.length, maxFileBytes);
			return [path, bytes];
		}),
	);
	return {
		...parsed,
		source: "inline",
		text,
		hash: await hashOf(text),
		files: [...contents.keys()].sort(),
		async readFile(path) {
			checkPath(name, path);
			const content = contents.get(path);
			if (content === undefined) throw skillFileNotFound(name, path);
			return content;
		},
		readText: async () => text,
	};
}
