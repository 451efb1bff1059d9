/** The tool `read_file`: returns numbered lines of one text file, in pieces of limited size. */
import { cutText } from "@holdfast/upp";
import { type AssistantTool, grouped, numberArgument, ToolRefusal, textArgument } from "./assistant-tool.ts";
import { walkFiles } from "./file-walk.ts";
import { type InsidePath, resolvePath } from "./root.ts";
import { LARGEST_TEXT_FILE, type TextFiles } from "./text-files.ts";

/** Lines per result without a range, and at most. */
const DEFAULT_LINES = 400;
const MAXIMUM_LINES = 2_000;
const MAXIMUM_CHARACTERS = 160_000;
const MAXIMUM_LINE_CHARACTERS = 4_000;

/** Creates `read_file` for one root directory. */
export function createReadFile(root: string, textFiles: TextFiles): AssistantTool {
	return {
		name: "read_file",
		description:
			`Read a text file with line numbers: ${DEFAULT_LINES} lines from "from" on, or the range "from" to "to" ` +
			`(at most ${grouped(MAXIMUM_LINES)} lines a call). The first line of the answer explains how to continue.`,
		parameters: {
			type: "object",
			properties: {
				path: { type: "string", description: "The file, relative to the working directory." },
				from: { type: "integer", minimum: 1, description: "The first line to read, from 1." },
				to: { type: "integer", minimum: 1, description: "The last line to read." },
			},
			required: ["path"],
			additionalProperties: false,
		},
		retryPolicy: "pure",
		maxModelCharacters: MAXIMUM_CHARACTERS + 40_000,
		async run(params) {
			const path = textArgument(params, "path");
			if (path === undefined || path === "")
				throw new ToolRefusal("tool_input_invalid", '"path" is missing: name the file to read.');
			const from = numberArgument(params, "from", {
				default: 1,
				minimum: 1,
				maximum: Number.MAX_SAFE_INTEGER,
			});
			const to = numberArgument(params, "to", {
				default: from + DEFAULT_LINES - 1,
				minimum: 1,
				maximum: Number.MAX_SAFE_INTEGER,
			});
			if (to < from) throw new ToolRefusal("tool_input_invalid", `"to" (${to}) is before "from" (${from}).`);
			const file = await resolveFile(root, path);
			const lines = await textFiles.lines(file);
			if (lines === undefined)
				throw new ToolRefusal(
					"file_not_text",
					`"${file.relative}" is a binary file of ${grouped(file.size)} bytes; read_file reads text only.`,
				);
			if (lines.length === 0) return `${file.relative}: the file is empty.`;
			if (from > lines.length)
				throw new ToolRefusal(
					"range_beyond_end",
					`"${file.relative}" has only ${grouped(lines.length)} lines; "from" was ${grouped(from)}.`,
				);
			return render(file.relative, lines, from, Math.min(to, lines.length, from + MAXIMUM_LINES - 1));
		},
	};
}

function render(path: string, lines: readonly string[], from: number, to: number): string {
	const shown: string[] = [];
	let characters = 0;
	let last = from - 1;
	for (let number = from; number <= to; number++) {
		const line = lines[number - 1] as string;
		const cut =
			line.length > MAXIMUM_LINE_CHARACTERS
				? `${cutText(line, MAXIMUM_LINE_CHARACTERS)}… (${grouped(line.length - MAXIMUM_LINE_CHARACTERS)} more characters)`
				: line;
		if (characters + cut.length > MAXIMUM_CHARACTERS && shown.length > 0) break;
		shown.push(`${number}\t${cut}`);
		characters += cut.length + 8;
		last = number;
	}
	const more =
		last < lines.length ? `; call read_file with ${JSON.stringify({ path, from: last + 1 })} to read on` : "";
	return `${path}: lines ${grouped(from)}-${grouped(last)} of ${grouped(lines.length)}${more}\n${shown.join("\n")}`;
}

async function resolveFile(root: string, path: string): Promise<InsidePath> {
	let file: InsidePath;
	try {
		file = await resolvePath(root, path);
	} catch (error) {
		if (!(error instanceof ToolRefusal) || error.code !== "path_not_found") throw error;
		const similar = await filesNamedLike(root, path);
		if (similar.length === 0) throw error;
		throw new ToolRefusal("path_not_found", `There is no "${path}". Did you mean ${similar.join(", ")}?`);
	}
	if (file.kind === "directory")
		throw new ToolRefusal(
			"path_not_a_file",
			`"${path}" is a directory. Call list_files with ${JSON.stringify({ prefix: path })} to see its files.`,
		);
	if (file.size > LARGEST_TEXT_FILE)
		throw new ToolRefusal(
			"file_too_large",
			`"${file.relative}" has ${grouped(file.size)} bytes; the limit is ${grouped(LARGEST_TEXT_FILE)}. Search in a smaller file.`,
		);
	return file;
}

async function filesNamedLike(root: string, path: string): Promise<string[]> {
	const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
	const walk = await walkFiles(root, "");
	return walk.files
		.filter((file) => file.path.slice(file.path.lastIndexOf("/") + 1).toLowerCase() === name)
		.slice(0, 3)
		.map((file) => `"${file.path}"`);
}
