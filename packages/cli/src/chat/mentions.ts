/**
 * Files that a message mentions as `@path`. They are attached with the same tool that the model would use to read them.
 */
import { formatBytes } from "../terminal/index.ts";
import { createAssistantTools, ToolRefusal, walkFiles } from "../tools/index.ts";
import type { Choice } from "./menu.ts";

const mention = /(?<=^|[\s("'`])@(?:"(?<quoted>[^"\n]+)"|(?<plain>[^\s"'`]+))/g;
/** The most files attached to a message, and their characters in total. */
const MOST_FILES = 20;
const MOST_CHARACTERS = 400_000;

/** A message with its files attached. */
export interface WithFiles {
	readonly text: string;
	/** The files that were read. */
	readonly files: readonly string[];
	/** Files that were not attached, with the reason. */
	readonly problems: readonly string[];
}

/** Returns the paths that a text mentions; a trailing full stop or comma is not part of the path. */
function mentionsIn(text: string): readonly string[] {
	const found = [...text.matchAll(mention)].map(
		({ groups }) => groups?.quoted ?? (groups?.plain ?? "").replace(/(?<![.,;:!?)\]])[.,;:!?)\]]+$/, ""),
	);
	return [...new Set(found)].filter((path) => path !== "");
}

/** Reads the files that a message mentions, inside the folder only. */
export async function withFiles(text: string, dir: string): Promise<WithFiles> {
	const read = createAssistantTools({ root: dir }).find(({ name }) => name === "read_file");
	const files: string[] = [];
	const problems: string[] = [];
	const parts: string[] = [];
	let left = MOST_CHARACTERS;
	const paths = mentionsIn(text);
	for (const path of paths.slice(0, MOST_FILES)) {
		try {
			const content = (await read?.run({ path })) ?? "";
			if (content.length > left)
				throw new ToolRefusal("file_too_large", `"${path}" is more than fits in one message.`);
			left -= content.length;
			parts.push(content);
			files.push(path);
		} catch (error) {
			if (!(error instanceof ToolRefusal)) throw error;
			problems.push(error.message);
		}
	}
	if (paths.length > MOST_FILES) problems.push(`Only the first ${MOST_FILES} files were read.`);
	return { text: [text, ...parts].join("\n\n"), files, problems };
}

/** Returns the files of a folder for a menu. */
export async function fileChoices(dir: string): Promise<readonly Choice[]> {
	const { files } = await walkFiles(dir, "");
	return files.map(({ path, size }) => ({
		text: `@${/\s/.test(path) ? `"${path}"` : path} `,
		label: path,
		detail: formatBytes(size),
	}));
}
