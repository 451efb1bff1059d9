/**
 * What the assistant follows in a folder: its AGENTS.md files, and the skills in `skills`, `.agents/skills` and `.claude/skills` of the folder and
 * of its repository's root. What leads out of the repository is left out.
 */
import { existsSync, readdirSync, realpathSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { agentsMd, loadSkills, readAgentsMd, type Skill, skills } from "@holdfast/context";
import { HoldfastError } from "@holdfast/upp";
import type { Plugin } from "holdfast/plugins";

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

/** Returns the plugins for the AGENTS.md files and the skills of a folder. */
export function followedPlugins(
	dir: string,
	onNotice: (notice: string) => void = () => {},
): readonly Plugin[] {
	const guides = agentsMd({ folder: dir, onNotice: ({ message }) => onNotice(message) });
	if (skillFolders(dir).length === 0) return [guides];
	const sources = [async () => (await projectSkills(dir)).skills];
	return [guides, skills({ sources, toolNames, reload: "each-run" })];
}

/** Returns what the assistant follows in a folder: files with instructions and folders with skills, for people. */
export async function followedIn(dir: string): Promise<readonly string[]> {
	const { files } = await readAgentsMd({ folder: dir });
	const folders = skillFolders(dir).map((folder) => relative(dir, folder).split(sep).join("/"));
	return [...files.map(({ path }) => path), ...folders];
}

/** Returns the nearest parent folder with `.git`; outside a repository, the folder itself. */
function repositoryOf(folder: string): string {
	for (let at = folder; ; at = dirname(at)) {
		if (existsSync(join(at, ".git"))) return at;
		if (dirname(at) === at) return folder;
	}
}

function isInside(root: string, path: string): boolean {
	try {
		return `${realpathSync(path)}${sep}`.startsWith(`${realpathSync(root)}${sep}`);
	} catch {
		return false; // it does not exist
	}
}
