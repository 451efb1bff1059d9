/**
 * Which files the assistant passes over while listing and searching: version control, installed
 * packages, and what .gitignore files name. Anything inside the root can still be read by its path.
 */

/** Directories nobody means when they ask about a project. */
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

/** One line of a .gitignore file, bound to the directory it stands in. */
interface IgnoreRule {
	readonly base: string;
	readonly negated: boolean;
	readonly directoryOnly: boolean;
	readonly expression: RegExp;
}

/** The rules that hold in one directory: its parents' first, its own last (the last match wins). */
export type IgnoreRules = readonly IgnoreRule[];

/** Adds the lines of the .gitignore in directory `base` ("" for the root) to the rules of its parent. */
export function extendIgnoreRules(rules: IgnoreRules, base: string, gitignore: string): IgnoreRules {
	const added: IgnoreRule[] = [];
	for (const raw of gitignore.split(/\r?\n/)) {
		const line = raw.replace(/(?<!\\)\s+$/, "");
		if (line === "" || line.startsWith("#")) continue;
		const negated = line.startsWith("!");
		let pattern = (negated ? line.slice(1) : line).replace(/^\\(?=[#!])/, "");
		const directoryOnly = pattern.endsWith("/");
		pattern = pattern.replace(/\/+$/, "");
		if (pattern === "") continue;
		const anchored = pattern.includes("/");
		pattern = pattern.replace(/^\//, "");
		const expression = globExpression(anchored ? pattern : `**/${pattern}`);
		if (expression) added.push({ base, negated, directoryOnly, expression });
	}
	return added.length === 0 ? rules : [...rules, ...added];
}

/** Is this entry passed over? `path` is relative to the root, with forward slashes. */
export function isIgnored(rules: IgnoreRules, path: string, kind: "file" | "directory"): boolean {
	const name = path.slice(path.lastIndexOf("/") + 1);
	if (kind === "directory" && SKIPPED_DIRECTORIES.has(name)) return true;
	let ignored = false;
	for (const rule of rules) {
		if (rule.directoryOnly && kind !== "directory") continue;
		const inside = rule.base === "" ? path : path.slice(rule.base.length + 1);
		if (rule.expression.test(inside)) ignored = !rule.negated;
	}
	return ignored;
}

/**
 * A glob as a regular expression over a whole relative path: `*` stays within a directory, `**` crosses
 * them, `?` is one character, `{a,b}` are alternatives, `[a-z]` a class. Undefined for a glob that cannot
 * be read.
 */
export function globExpression(glob: string): RegExp | undefined {
	let source = "";
	let braces = 0;
	for (let index = 0; index < glob.length; index++) {
		const character = glob[index] as string;
		if (character === "*") {
			if (glob[index + 1] === "*") {
				while (glob[index + 1] === "*") index++;
				if (glob[index + 1] === "/") {
					index++;
					source += "(?:.*/)?";
				} else source += ".*";
			} else source += "[^/]*";
		} else if (character === "?") source += "[^/]";
		else if (character === "{") {
			braces++;
			source += "(?:";
		} else if (character === "}" && braces > 0) {
			braces--;
			source += ")";
		} else if (character === "," && braces > 0) source += "|";
		else if (character === "[" && glob.indexOf("]", index + 2) > 0) {
			const end = glob.indexOf("]", index + 2);
			source += `[${glob
				.slice(index + 1, end)
				.replace(/^!/, "^")
				.replaceAll("\\", "\\\\")}]`;
			index = end;
		} else if (character === "\\" && index + 1 < glob.length)
			source += escapeExpression(glob[++index] as string);
		else source += escapeExpression(character);
	}
	try {
		return new RegExp(`^${source}$`);
	} catch {
		return undefined;
	}
}

/** The text as a regular expression that matches only itself. */
export function escapeExpression(text: string): string {
	return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}
