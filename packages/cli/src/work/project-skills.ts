/**
 * The skills of a project: those in `skills`, `.agents/skills` and `.claude/skills` of the folder and of its repository's
 * root. Folders that are links out of the repository are left out.
 */
import { existsSync, readdirSync, realpathSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { loadSkills, type Skill, skills } from "@holdfast/context";
import { HoldfastError } from "@holdfast/upp";
import type { Plugin } from "holdfast/plugins";
import { agentsFiles, repositoryOf } from "../tools/index.ts";

const places = ["skills", ".agents/skills", ".claude/skills"];

/** The assistant's tools by the names that published skills use. */
const toolNames = {
	Read: "read_file",
	Glob: "list_files",
	LS: "list_files",
	Grep: "search_text",
	Edit: "edit_file",
	MultiEdit: "edit_file",
	Write: "write_file",
	Bash: "shell",
	WebFetch: "fetch_url",
};

/** The skills of a project, and why others cannot be used. */
export interface ProjectSkills {
	readonly skills: readonly Skill[];
	/** One sentence for each skill that cannot be used. */
	readonly problems: readonly string[];
}

/** Returns the folders with skills that apply to a folder, nearest first. */
function skillFolders(dir: string): readonly string[] {
	const root = repositoryOf(dir);
	const roots = dir === root ? [dir] : [dir, root];
	const folders = roots.flatMap((each) => places.map((place) => join(each, place)));
	return folders.filter((folder) => isInside(root, folder) && hasSkills(folder));
}

function hasSkills(folder: string): boolean {
	try {
		return readdirSync(folder).some((name) => existsSync(join(folder, name, "SKILL.md")));
	} catch {
		return false;
	}
}

/**
 * Loads the skills that apply to a folder. If two skills have the same name, the nearest one applies. Never rejects.
 */
export async function projectSkills(dir: string): Promise<ProjectSkills> {
	const folders = skillFolders(dir);
	if (folders.length === 0) return { skills: [], problems: [] };
	const problems: string[] = [];
	const onInvalid = (error: Error): void => {
		const isKnown = error instanceof HoldfastError && error.code === "skill_duplicate";
		if (!isKnown) problems.push(error.message);
	};
	const loaded = await loadSkills({ folders, format: "lenient", onInvalid });
	const root = repositoryOf(dir);
	return { skills: loaded.filter(({ source }) => isInside(root, source)), problems };
}

/** Returns the plugin for the skills of a folder; none if it has no folder with skills. */
export function skillPlugins(dir: string): readonly Plugin[] {
	if (skillFolders(dir).length === 0) return [];
	const sources = [async () => (await projectSkills(dir)).skills];
	return [skills({ sources, toolNames, reload: "each-run" })];
}

/** Returns what the assistant follows in a folder: files with instructions and folders with skills, for people. */
export function followedIn(dir: string): readonly string[] {
	const folders = skillFolders(dir).map((folder) => relative(dir, folder).split(sep).join("/"));
	return [...agentsFiles(dir).map(({ path }) => path), ...folders];
}

function isInside(root: string, path: string): boolean {
	try {
		return `${realpathSync(path)}${sep}`.startsWith(`${realpathSync(root)}${sep}`);
	} catch {
		return false; // it does not exist
	}
}
