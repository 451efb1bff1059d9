/**
 * The skills and the AGENTS.md files of a project. Skills are in its folder `skills` and in its packages of agents. The
 * field `holdfast` of its package.json names other skills, and says whether the project's agents follow AGENTS.md: the
 * file often is for the people and assistants who write the project.
 */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { agentsMd, type LoadSkillsOptions, loadSkills, type Skill, skills } from "@holdfast/context";
import { packedSkills } from "@holdfast/threads";
import { isHoldfastError } from "holdfast";
import type { Plugin } from "holdfast/plugins";
import { UsageError } from "../work/index.ts";

/** The field `holdfast` of a project's package.json. */
interface ContextSettings {
	readonly agentsMd: boolean;
	/** Folders, which begin with a dot, and packages. Undefined: the folder `skills`. */
	readonly skills: readonly string[] | undefined;
}

/** How the plugins of a project report what they cannot use. */
export interface ProjectContextOptions {
	/** `each-run` also leaves out invalid skills, with a notice. */
	readonly reload: "never" | "each-run";
	readonly onNotice: (notice: string) => void;
}

const defaultFolder = "skills";

/**
 * Returns the plugins for the skills and the AGENTS.md files of a project. Without `reload`, each skill is validated.
 * @throws UsageError for invalid settings or skills.
 */
export async function projectContext(
	directory: string,
	{ reload, onNotice }: ProjectContextOptions,
): Promise<readonly Plugin[]> {
	const settings = await settingsOf(directory);
	const plugins: Plugin[] = [];
	if (settings.agentsMd)
		plugins.push(agentsMd({ folder: directory, onNotice: ({ message }) => onNotice(message) }));
	const reading = sourcesOf(directory, settings);
	const packaged = await skillsOfPackages(directory).catch(asUsageError);
	if (reading === undefined && packaged.length === 0) return plugins;
	if (reload === "never") {
		const own = reading === undefined ? [] : await loadSkills(reading).catch(asUsageError);
		const sources = [...own];
		for (const skill of packaged) {
			const other = sources.find(({ name }) => name === skill.name);
			if (other === undefined) sources.push(skill);
			else onNotice(`The skill "${skill.name}" in ${skill.source} is hidden by the one in ${other.source}.`);
		}
		return sources.length === 0 ? plugins : [...plugins, skills({ sources })];
	}
	const known = new Set<string>();
	const onInvalid = ({ message }: Error): void => {
		if (known.has(message)) return;
		known.add(message);
		onNotice(message);
	};
	const sources = [...(reading?.sources ?? []), ...packaged];
	return [...plugins, skills({ ...reading, sources, onInvalid, reload })];
}

/** Returns the skills of a project without those of its packages. @throws UsageError for invalid settings or skills. */
export async function ownSkills(directory: string): Promise<readonly Skill[]> {
	const reading = sourcesOf(directory, await settingsOf(directory));
	return reading === undefined ? [] : loadSkills(reading).catch(asUsageError);
}

/** Returns the skills of the packages of agents that a project uses. */
async function skillsOfPackages(directory: string): Promise<readonly Skill[]> {
	const found = await packedSkills(directory);
	const loaded: Skill[] = [];
	for (const { folder } of found)
		loaded.push(...(await loadSkills({ folders: [folder], format: "lenient" })));
	return loaded;
}

function asUsageError(error: unknown): never {
	throw isHoldfastError(error) ? new UsageError(error.message) : error;
}

/** Returns one sentence for each skill of a project that cannot be used. @throws UsageError for invalid settings. */
export async function skillProblems(directory: string): Promise<readonly string[]> {
	const reading = sourcesOf(directory, await settingsOf(directory));
	const problems: string[] = [];
	if (reading !== undefined)
		await loadSkills({ ...reading, onInvalid: ({ message }) => void problems.push(message) });
	await skillsOfPackages(directory).catch(({ message }) => void problems.push(message));
	return problems;
}

function sourcesOf(directory: string, settings: ContextSettings): LoadSkillsOptions | undefined {
	const given = settings.skills;
	if (given === undefined) {
		const folder = join(directory, defaultFolder);
		return existsSync(folder) ? { folders: [folder], format: "lenient" } : undefined;
	}
	if (given.length === 0) return undefined;
	const folders = given.filter((each) => each.startsWith(".")).map((each) => resolve(directory, each));
	const packages = given.filter((each) => !each.startsWith("."));
	return {
		folders,
		sources: packages.map((name) => ({ package: name, from: directory })),
		format: "lenient",
	};
}

/** @throws UsageError for a field that is not valid. */
async function settingsOf(directory: string): Promise<ContextSettings> {
	const file = join(directory, "package.json");
	const text = await readFile(file, "utf8").catch(() => "{}");
	let manifest: { readonly holdfast?: unknown };
	try {
		manifest = JSON.parse(text) ?? {};
	} catch (error) {
		throw new UsageError(`${file} is not valid JSON: ${(error as Error).message}`);
	}
	const { holdfast: given = {} } = manifest;
	if (typeof given !== "object" || given === null || Array.isArray(given))
		throw new UsageError(`The field "holdfast" of ${file} must be an object, such as { "agentsMd": true }.`);
	const { agentsMd: follows = false, skills: named, ...others } = given as Record<string, unknown>;
	const [unknown] = Object.keys(others);
	if (unknown !== undefined)
		throw new UsageError(
			`The field "holdfast" of ${file} has the unknown member "${unknown}". Known: "agentsMd", "skills".`,
		);
	if (typeof follows !== "boolean")
		throw new UsageError(`"agentsMd" in the field "holdfast" of ${file} must be true or false.`);
	if (named !== undefined && !(Array.isArray(named) && named.every(isSource)))
		throw new UsageError(
			`"skills" in the field "holdfast" of ${file} must be a list of folders, such as "./skills", and names of packages.`,
		);
	return { agentsMd: follows, skills: named as readonly string[] | undefined };
}

function isSource(value: unknown): boolean {
	return typeof value === "string" && value !== "";
}
