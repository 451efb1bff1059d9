/**
 * Which files the assistant skips when it lists and searches: version control, installed packages and files matched by
 * .gitignore. Any file inside the root can still be read by its path.
 */
import ignore, { type Ignore } from "ignore";

/** Directories that are never meant by a question about a project. */
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

/** Whether directories of this name are skipped; files are not written there either. */
export function isSkippedDirectory(name: string): boolean {
	return SKIPPED_DIRECTORIES.has(name);
}

/** A rule's cost grows with the path length to the power of its number of `**`, and projects may be untrusted. */
const MOST_GLOBSTARS = 3;
const LONGEST_RULE = 1_000;
const MOST_RULES = 2_000;

/** The rules of one .gitignore file. */
export interface IgnoreFile {
	/** Its directory; "" for the root, and for files above the root. */
	readonly base: string;
	/** For a file above the root: the path from its directory to the root, with a trailing slash. */
	readonly toRoot?: string;
	readonly rules: Ignore;
	/** Lines ignored because they are too long, too costly or too many. */
	readonly leftOut: number;
}

/** The files whose rules apply to one directory: those of its parents first, its own last (the last match wins). */
export type IgnoreFiles = readonly IgnoreFile[];

/** Parses the .gitignore in directory `base` ("" for the root). */
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
		// The library creates a regular expression, which may be invalid.
		return false;
	}
}

/** Whether an entry is ignored. `path` is relative to the root, with forward slashes. */
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
