/** The files and folders of the project that a task names, by path, by name, or by the word that is its name. */
import { escapeExpression } from "../tools/index.ts";
import { isStopWord } from "./words.ts";

const FILE_NAME =
	/(?<![\w./@-])(?:\.{0,2}\/)?(?:[\w@.+-]+\/)*[\w@+-]*\.?[\w+-]+\.[a-z][a-z\d]{0,9}(?![\w/(])/gi;

/** What a task names. */
export interface NamedFiles {
	readonly files: readonly string[];
	readonly directories: readonly string[];
	readonly missing: readonly string[];
	/** The words of the task that named them. */
	readonly mentions: readonly string[];
}

/** Finds the files that a task names among the paths of the project. */
export function filesNamed(task: string, paths: readonly string[]): NamedFiles {
	const files = new Set<string>();
	const directories = new Set<string>();
	const missing: string[] = [];
	const mentions: string[] = [];
	const all = new Set<string>();
	for (const path of paths)
		for (let cut = path.lastIndexOf("/"); cut > 0; cut = path.lastIndexOf("/", cut - 1))
			all.add(path.slice(0, cut));
	for (const [raw] of task.matchAll(FILE_NAME)) {
		if (/^v?\d+(?:\.\d+)*(?:\.x)?$/i.test(raw) || /^(?:e\.g|i\.e|etc)\.?$/i.test(raw)) continue;
		const name = raw.replace(/^\.?\//, "");
		const found = pathsEnding(name, paths);
		if (found.length > 0) {
			for (const path of found.slice(0, 5)) files.add(path);
			mentions.push(raw);
		} else if (looksLikeFile(name)) {
			missing.push(name);
			mentions.push(raw);
		}
	}
	for (const raw of task.match(/(?<![\w.])(?:\.\/)?[\w@.-]+(?:\/[\w@.-]+)*\/?(?![\w.])/g) ?? []) {
		const name = raw.replace(/^\.\/|\/$/g, "").replace(/[.]+$/, "");
		const slashed = raw.includes("/");
		if (
			mentions.includes(raw) ||
			(slashed
				? false
				: !new RegExp(
						`\\b(?:in|under|inside|of|from|within|the)\\s+(?:the\\s+)?\`?${escapeExpression(name)}\`?/?\\s*(?:folder|directory|dir)\\b`,
						"i",
					).test(task))
		)
			continue;
		const matching = [...all].filter((directory) => directory === name || directory.endsWith(`/${name}`));
		if (matching.length > 0) {
			directories.add(matching[0] as string);
			mentions.push(raw);
		} else if (slashed && paths.includes(name)) {
			files.add(name);
			mentions.push(raw);
		}
	}
	// "the guide" names guide.md by its stem; words in capitals name a file by custom.
	for (const word of task.match(/[\w-]+/g) ?? []) {
		if (word.length < 4 || isStopWord(word) || mentions.some((mention) => mention.includes(word))) continue;
		const capitals = /^[A-Z][A-Z_-]+$/.test(word);
		const before = new RegExp(
			`\\b(?:the|in|from|of|read|our|this)\\s+(?:the\\s+|this\\s+)?\`?${escapeExpression(word)}\\b`,
			"i",
		).test(task);
		const found = paths.filter(
			(path) =>
				stemOfPath(path) === word.toLowerCase() &&
				(capitals || !path.includes("/")) &&
				/(?:^|\/)[^/]*$/.test(path),
		);
		const prose = found.filter(
			(path) =>
				/\.(?:md|markdown|rst|txt|adoc|mdx)$|\/?[A-Z]+$/i.test(path) &&
				!/\.\w+$/.test(path.replace(/\.(?:md|markdown|rst|txt|adoc|mdx)$/i, "")),
		);
		if (prose.length === 0 || !(capitals || before)) continue;
		const nearest = Math.min(...prose.map((path) => path.split("/").length));
		for (const path of prose.filter((one) => one.split("/").length === nearest).slice(0, 3)) files.add(path);
		mentions.push(word);
	}
	return {
		files: [...files],
		directories: [...directories],
		missing,
		mentions: mentions.sort((a, b) => b.length - a.length),
	};
}

/** Does an unknown dotted word look like a file, rather than like `object.method` or a web address? */
function looksLikeFile(name: string): boolean {
	return /\.(?:md|mdx|txt|rst|adoc|json|jsonc|ya?ml|toml|ini|cfg|conf|env|lock|csv|xml|html?|css|scss|[cm]?[jt]sx?|py|rb|go|rs|java|kt|swift|c|h|cc|cpp|hpp|cs|php|sh|bash|sql|vue|svelte|lua|pl|ex|exs|scala|tf|proto|graphql|log|pdf)$/i.test(
		name,
	);
}

function stemOfPath(path: string): string {
	const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
	const dot = name.indexOf(".", 1);
	return dot > 0 ? name.slice(0, dot) : name;
}

/** The paths that end with this name, whole segments only; the nearest ones to the root. */
function pathsEnding(name: string, paths: readonly string[]): string[] {
	const wanted = name.toLowerCase();
	const found = paths.filter((path) => {
		const lower = path.toLowerCase();
		return lower === wanted || lower.endsWith(`/${wanted}`);
	});
	const exact = found.filter((path) => path === name);
	if (exact.length > 0) return exact;
	const nearest = Math.min(...found.map((path) => path.split("/").length));
	const near = found.filter((path) => path.split("/").length === nearest);
	return nearest === 1 || name.includes("/") ? near : found;
}
