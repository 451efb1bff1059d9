/**
 * A repository's instructions for agents: the AGENTS.md files from its root down to the current folder. The root is the
 * nearest parent folder with `.git`; outside a repository only the current folder counts.
 */
import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { cutText } from "@holdfast/upp";

const fileName = "AGENTS.md";
/** The maximum length of one file in characters; longer ones are cut, with a note. */
const mostCharacters = 16_000;
/** Maximum size, in bytes, of a file that is read. */
const mostBytes = 1_000_000;

/** A file with instructions for agents. */
export interface AgentsFile {
	/** Relative to the given folder, with forward slashes. */
	readonly path: string;
	readonly text: string;
}

/** Returns the files that apply to a folder, the nearest last. Skips unreadable files and links out of the repository. */
export function agentsFiles(folder: string): readonly AgentsFile[] {
	const root = repositoryOf(folder);
	const found: AgentsFile[] = [];
	for (let at = folder; ; at = dirname(at)) {
		const text = readInside(root, join(at, fileName));
		if (text !== undefined) found.unshift({ path: shownPath(folder, join(at, fileName)), text });
		if (at === root || dirname(at) === at) return found;
	}
}

/** Formats those files as a part of a system prompt; "" without any. */
export function agentsInstructions(files: readonly AgentsFile[]): string {
	return files
		.map(({ path, text }) => {
			const cut = cutText(text, mostCharacters);
			const rest =
				cut === text ? "" : `\n(${text.length - cut.length} more characters of ${path} are omitted.)`;
			return `\n\nThe repository's instructions in ${path}:\n${cut}${rest}`;
		})
		.join("");
}

/**
 * Returns the AGENTS.md nearest to a file or folder below the given folder. A model that works there is informed of the
 * file, and reads it itself.
 */
export function agentsFileBelow(folder: string, path: string): string | undefined {
	for (let at = dirname(path); at !== "." && at !== "" && !at.startsWith(".."); at = dirname(at)) {
		const own = `${at}/${fileName}`;
		if (own !== path && readInside(folder, join(folder, own)) !== undefined) return own;
	}
	return undefined;
}

/** Returns the nearest parent folder with `.git`; outside a repository, the folder itself. */
export function repositoryOf(folder: string): string {
	for (let at = folder; ; at = dirname(at)) {
		if (existsSync(join(at, ".git"))) return at;
		if (dirname(at) === at) return folder;
	}
}

function readInside(root: string, path: string): string | undefined {
	try {
		const real = realpathSync(path);
		if (!`${real}${sep}`.startsWith(`${realpathSync(root)}${sep}`)) return undefined;
		const { size } = statSync(real);
		const text = size > mostBytes ? "" : readFileSync(real, "utf8").trim();
		return text === "" ? undefined : text;
	} catch {
		return undefined;
	}
}

function shownPath(folder: string, path: string): string {
	return relative(folder, path).split(sep).join("/");
}
