/**
 * Which files the assistant passes over while listing and searching: version control, installed
 * packages, and what .gitignore files name. Anything inside the root can still be read by its path.
 */
import ignore, { type Ignore } from "ignore";

/** Directories that a question about a project does not mean. */
const SKIPPED_DIRECTORIES = new Set([
	".git",
	".hg",
	".svn",
	".jj",
	"node_modules",
	".holdfast",
	"__pycache__",
	".venv",
	".tox",
	".mypy_cache",
	".pytest_cache",
	".yarn",
	".pnpm-store",
]);

/** Whether a directory of this name is passed over; files are not written in one either. */
export function isSkippedDirectory(name: string): boolean {
	return SKIPPED_DIRECTORIES.has(name);
}

/** A rule's cost grows with the path to the power of its `**`, and a project need not be a friend's. */
const MOST_GLOBSTARS = 3;
const LONGEST_RULE = 1_000;
const MOST_RULES = 2_000;

/** The rules of one .gitignore file. */
export interface IgnoreFile {
	/** The directory it is in; "" for the root, and for files above the root. */
	readonly base: string;
	/** Of a file above the root: the way from its directory to the root, with a slash at its end. */
	readonly toRoot?: string;
	readonly rules: Ignore;
	/** Lines that are not used because they are too long, too costly or too many. */
	readonly leftOut: number;
}

/** The files whose rules hold in one directory: its parents' first, its own last (the last match wins). */
export type IgnoreFiles = readonly IgnoreFile[];

/** Reads the .gitignore in directory `base` ("" for the root). */
export function readIgnoreFile(base: string, text: string): IgnoreFile {
	const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "" && !line.startsWith("#"));
	const used = lines.slice(0, MOST_RULES).filter(isUsable);
	return { base, rules: ignore({ ignorecase: false }).add(used), leftOut: lines.length - used.length };
}

function isUsable(line: string): boolean {
	if (line.length > LONGEST_RULE || (line.match(/\*{2,}/g)?.length ?? 0) > MOST_GLOBSTARS) return false;
	try {
		ignore().add(line).test("a");
		return true;
	} catch {
		// The library makes a regular expression of it, which can be one that no engine reads.
		return false;
	}
}

/** Is this entry passed over? `path` is relative to the root, with forward slashes. */
export function isIgnored(files: IgnoreFiles, path: string, kind: "file" | "directory"): boolean {
	if (kind === "directory" && isSkippedDirectory(path.slice(path.lastIndexOf("/") + 1))) return true;
	let ignored = false;
	for (const { base, toRoot = "", rules } of files) {
		const inside = toRoot + (base === "" ? path : path.slice(base.length + 1));
		const verdict = rules.test(kind === "directory" ? `${inside}/` : inside);
		if (verdict.ignored || verdict.unignored) ignored = verdict.ignored;
	}
	return ignored;
}
