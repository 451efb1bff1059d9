/** The tool `list_files`: lists the files below the root, nearest first. */
import { extname } from "node:path";
import { type AssistantTool, counted, grouped, numberArgument, textArgument } from "./assistant-tool.ts";
import { walkFiles, walkNotes } from "./file-walk.ts";
import { readGlob } from "./glob.ts";
import { resolvePath } from "./root.ts";

const DEFAULT_LIMIT = 500;
const MAXIMUM_LIMIT = 5_000;

const BINARY_EXTENSIONS = new Set(
	(
		"png jpg jpeg gif webp avif ico bmp tiff heic psd mp3 mp4 m4a wav ogg flac avi mov mkv webm woff woff2 ttf " +
		"otf eot zip gz tgz bz2 xz zst 7z rar jar war class o a so dll dylib exe bin wasm node pdf db sqlite pyc"
	).split(" "),
);

/** Whether the name indicates a binary file. */
export function hasBinaryName(path: string): boolean {
	return BINARY_EXTENSIONS.has(extname(path).slice(1).toLowerCase());
}

/** Creates `list_files` for one root directory. */
export function createListFiles(root: string): AssistantTool {
	return {
		name: "list_files",
		description:
			"List the files of the working directory with their sizes in bytes, files near the top first. Version " +
			"control, node_modules, binary files and files ignored by .gitignore are omitted.",
		parameters: {
			type: "object",
			properties: {
				prefix: { type: "string", description: 'Only files below this directory, such as "src/utils".' },
				glob: {
					type: "string",
					description:
						'Only files that match, such as "**/*.md" or "*.{js,ts}" (a glob without "/" matches names).',
				},
				limit: { type: "integer", minimum: 1, description: `At most this many (default ${DEFAULT_LIMIT}).` },
			},
			required: [],
			additionalProperties: false,
		},
		retryPolicy: "pure",
		maxModelCharacters: 400_000,
		async run(params) {
			const prefix = textArgument(params, "prefix") ?? "";
			const glob = textArgument(params, "glob");
			const limit = numberArgument(params, "limit", {
				default: DEFAULT_LIMIT,
				minimum: 1,
				maximum: MAXIMUM_LIMIT,
			});
			const matches = glob === undefined ? undefined : readGlob(glob);
			const start = await resolvePath(root, prefix === "" ? "." : prefix);
			if (start.kind === "file") return `1 file\n${start.relative}\t${grouped(start.size)} bytes`;
			const walk = await walkFiles(root, start.relative);
			const named = matches ? walk.files.filter((file) => matches(file.path)) : walk.files;
			const matching = named.filter((file) => !hasBinaryName(file.path));
			const shown = matching.slice(0, limit);
			const binary = named.length - matching.length;
			const notes = [
				shown.length < matching.length
					? `first ${grouped(shown.length)} shown; ${grouped(matching.length - shown.length)} more: narrow with "prefix" or "glob", or raise "limit"`
					: undefined,
				binary > 0 ? `${counted(binary, "binary file")} left out` : undefined,
				...walkNotes(walk),
			].filter((note) => note !== undefined);
			const head = `${counted(matching.length, "file")}${notes.length > 0 ? ` (${notes.join("; ")})` : ""}`;
			return [head, ...shown.map((file) => `${file.path}\t${grouped(file.size)} bytes`)].join("\n");
		},
	};
}
