/** The tool `search_text`: returns matching lines grouped by file, the files with the most matches first. */

import { setImmediate } from "node:timers/promises";
import { cutText } from "@holdfast/upp";
import {
	type AssistantTool,
	counted,
	grouped,
	numberArgument,
	ToolRefusal,
	textArgument,
} from "./assistant-tool.ts";
import { type WalkedFile, walkFiles, walkNotes } from "./file-walk.ts";
import { readGlob } from "./glob.ts";
import { createLineMatcher, type LineMatcher, SEARCHED_CHARACTERS } from "./line-matcher.ts";
import { hasBinaryName } from "./list-files.ts";
import { resolvePath } from "./root.ts";
import type { TextFiles } from "./text-files.ts";

const DEFAULT_LIMIT = 60;
const MAXIMUM_LIMIT = 1_000;
const SHOWN_LINE_CHARACTERS = 300;
const LARGEST_SEARCHED_FILE = 8 * 1024 * 1024;
/** Milliseconds for the whole search, and for its regular expressions. */
const SEARCH_BUDGET = 10_000;
const EXPRESSION_BUDGET = 2_000;
/** The longest intended time in milliseconds between turns of the event loop. */
const LONGEST_TURN = 50;
/** Generated files: searched only if they are requested by name. */
const GENERATED =
	/(?:\.min\.(?:js|css)|\.map|\.lock|\.snap|(?:^|\/)(?:package-lock\.json|pnpm-lock\.yaml|bun\.lockb?))$/;

interface FileMatches {
	readonly path: string;
	readonly lines: readonly string[];
	readonly matches: readonly number[];
}

/** Creates `search_text` for one root directory. */
export function createSearchText(root: string, textFiles: TextFiles): AssistantTool {
	return {
		name: "search_text",
		description:
			"Search the text files of the working directory for lines that contain a text or match a regular " +
			"expression, ignoring case. Answers with `file:line: text`, files with most matches first, and says how " +
			"many there are in total. Skips the same files as list_files, and generated ones.",
		parameters: {
			type: "object",
			properties: {
				pattern: { type: "string", description: "The text or regular expression to find within one line." },
				regex: { type: "boolean", description: "Read the pattern as a regular expression (default false)." },
				case_sensitive: { type: "boolean", description: "Distinguish upper and lower case (default false)." },
				path: { type: "string", description: "Only in this file or below this directory." },
				glob: { type: "string", description: 'Only in files that match, such as "*.md" or "src/**/*.ts".' },
				context: {
					type: "integer",
					minimum: 0,
					description: "Lines to show around a match (default 0, at most 10).",
				},
				limit: {
					type: "integer",
					minimum: 1,
					description: `At most this many matches (default ${DEFAULT_LIMIT}).`,
				},
			},
			required: ["pattern"],
			additionalProperties: false,
		},
		retryPolicy: "pure",
		maxModelCharacters: 400_000,
		async run(params, context) {
			const pattern = textArgument(params, "pattern");
			if (pattern === undefined || pattern === "")
				throw new ToolRefusal("tool_input_invalid", '"pattern" is missing: give the text to search for.');
			const glob = textArgument(params, "glob");
			const around = numberArgument(params, "context", { default: 0, minimum: 0, maximum: 10 });
			const limit = numberArgument(params, "limit", {
				default: DEFAULT_LIMIT,
				minimum: 1,
				maximum: MAXIMUM_LIMIT,
			});
			const matcher = createLineMatcher({
				pattern,
				kind: params.regex === true ? "regex" : "text",
				letterCase: params.case_sensitive === true ? "exact" : "ignored",
				budget: EXPRESSION_BUDGET,
			});
			const place = await resolvePath(root, textArgument(params, "path") || ".");
			const matches = glob === undefined ? undefined : readGlob(glob);
			let notes: readonly string[] = [];
			let candidates: readonly WalkedFile[];
			if (place.kind === "file") candidates = [{ ...place, path: place.relative }];
			else {
				const walk = await walkFiles(root, place.relative);
				candidates = walk.files.filter(
					(file) => !hasBinaryName(file.path) && (matches ? matches(file.path) : !GENERATED.test(file.path)),
				);
				notes = walkNotes(walk);
			}
			const search = await searchFiles(candidates, matcher, textFiles, context?.signal);
			return render(search, { limit, around, notes });
		},
	};
}

interface Search {
	readonly found: readonly FileMatches[];
	readonly searched: number;
	readonly tooLarge: number;
	/** Files with lines that were only partly searched. */
	readonly longLines: number;
	readonly outOfTime: boolean;
}

async function searchFiles(
	candidates: readonly WalkedFile[],
	matcher: LineMatcher,
	textFiles: TextFiles,
	signal: AbortSignal | undefined,
): Promise<Search> {
	const deadline = performance.now() + SEARCH_BUDGET;
	const found: FileMatches[] = [];
	let searched = 0;
	let tooLarge = 0;
	let longLines = 0;
	let outOfTime = false;
	let turn = performance.now();
	for (const file of candidates) {
		// Cached files are searched without a pause, so signals would otherwise not be handled.
		if (performance.now() - turn > LONGEST_TURN) {
			await setImmediate();
			turn = performance.now();
		}
		signal?.throwIfAborted();
		outOfTime = performance.now() > deadline;
		if (outOfTime) break;
		if (file.size > LARGEST_SEARCHED_FILE) {
			tooLarge++;
			continue;
		}
		const lines = await textFiles.lines(file).catch(() => undefined);
		if (lines === undefined) continue;
		searched++;
		if (lines.some((line) => line.length > SEARCHED_CHARACTERS)) longLines++;
		const matches = matcher(lines);
		if (matches.length > 0) found.push({ path: file.path, lines, matches });
	}
	found.sort((left, right) => right.matches.length - left.matches.length);
	return { found, searched, tooLarge, longLines, outOfTime };
}

interface Shape {
	readonly limit: number;
	readonly around: number;
	/** Omissions of the walk. */
	readonly notes: readonly string[];
}

function render(search: Search, shape: Shape): string {
	const total = search.found.reduce((sum, file) => sum + file.matches.length, 0);
	const notes = [
		`${counted(search.searched, "file")} searched`,
		search.tooLarge > 0
			? `${counted(search.tooLarge, "file")} ${search.tooLarge === 1 ? "is" : "are"} too large to search`
			: undefined,
		search.longLines > 0
			? `in ${counted(search.longLines, "file")} long lines were searched up to character ${grouped(SEARCHED_CHARACTERS)}`
			: undefined,
		search.outOfTime ? "stopped for lack of time, narrow with path or glob" : undefined,
		...shape.notes,
	].filter((note) => note !== undefined);
	const head = `${counted(total, "matching line")} in ${counted(search.found.length, "file")} (${notes.join("; ")})`;
	// Every file first gets a share of the limit, so that one file full of matches does not hide the others.
	const share = Math.max(3, Math.floor(shape.limit / Math.max(1, search.found.length)));
	const shares = search.found.map((file) => Math.min(file.matches.length, share));
	let spare = shape.limit - shares.reduce((sum, count) => sum + count, 0);
	for (let index = 0; index < shares.length && spare > 0; index++) {
		const more = Math.min(
			spare,
			(search.found[index] as FileMatches).matches.length - (shares[index] as number),
		);
		shares[index] = (shares[index] as number) + more;
		spare -= more;
	}
	const output = [head];
	let left = shape.limit;
	const unshown: string[] = [];
	for (const [index, file] of search.found.entries()) {
		const take = Math.min(shares[index] as number, left);
		if (take <= 0) {
			unshown.push(`${file.path} (${grouped(file.matches.length)})`);
			continue;
		}
		left -= take;
		const hidden = file.matches.length - take;
		output.push(
			`${file.path}: ${counted(file.matches.length, "matching line")}${hidden > 0 ? `, first ${grouped(take)} shown` : ""}`,
		);
		output.push(...shownLines(file, file.matches.slice(0, take), shape.around));
	}
	if (unshown.length > 0)
		output.push(
			`More matches, not shown, in: ${unshown.slice(0, 40).join(", ")}${unshown.length > 40 ? ` and ${grouped(unshown.length - 40)} more files` : ""}. Narrow with path or glob.`,
		);
	return output.join("\n");
}

function shownLines(file: FileMatches, matches: readonly number[], around: number): string[] {
	const matching = new Set(matches);
	const shown = new Set<number>();
	for (const index of matches)
		for (
			let line = Math.max(0, index - around);
			line <= Math.min(file.lines.length - 1, index + around);
			line++
		)
			shown.add(line);
	return [...shown]
		.sort((left, right) => left - right)
		.map((index) => {
			const mark = matching.has(index) ? ":" : "-";
			const line = file.lines[index] as string;
			const cut =
				line.length > SHOWN_LINE_CHARACTERS
					? `${cutText(line, SHOWN_LINE_CHARACTERS)}… (${grouped(line.length - SHOWN_LINE_CHARACTERS)} more characters)`
					: line;
			return `${file.path}${mark}${index + 1}${mark} ${cut}`;
		});
}
