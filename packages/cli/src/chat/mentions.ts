/**
 * Files that a message mentions as `@path`. They are attached with the same tool that the model would use to read them;
 * images are attached as they are.
 */
import type { ImageBlock } from "@holdfast/upp";
import { formatBytes } from "../terminal/index.ts";
import { createAssistantTools, ToolRefusal, walkFiles } from "../tools/index.ts";
import { type ChosenImages, isImagePath, mentionOf, readImage } from "./images.ts";
import type { Choice } from "./menu.ts";

const mention = /(?<=^|[\s("'`])@(?:"(?<quoted>[^"\n]+)"|(?<plain>[^\s"'`]+))/g;
/** Maximum number of files attached to a message, and their characters in total. */
const MOST_FILES = 20;
const MOST_CHARACTERS = 400_000;

/** A message with its files attached. */
export interface WithFiles {
	readonly text: string;
	/** The files that were read. */
	readonly files: readonly string[];
	readonly images: readonly { readonly path: string; readonly image: ImageBlock }[];
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

/**
 * Reads the files that a message mentions, inside the folder only, except for images in `chosen`.
 * With `images only`, mentions of other files are ordinary text.
 */
export async function withFiles(
	text: string,
	dir: string,
	what: "all files" | "images only" = "all files",
	model: "images" | "no images" = "images",
	chosen: ChosenImages = new Map(),
): Promise<WithFiles> {
	const read = createAssistantTools({ root: dir }).find(({ name }) => name === "read_file");
	const files: string[] = [];
	const problems: string[] = [];
	const parts: string[] = [];
	let left = MOST_CHARACTERS;
	const images: { path: string; image: ImageBlock }[] = [];
	const paths = mentionsIn(text).filter((path) => what === "all files" || isImagePath(path));
	for (const path of paths.slice(0, MOST_FILES)) {
		try {
			if (isImagePath(path)) {
				if (model === "no images")
					throw new ToolRefusal(
						"tool_input_invalid",
						`"${path}" was not sent: the model does not accept images.`,
					);
				images.push({ path, image: await readImage(path, dir, chosen) });
				continue;
			}
			const content = (await read?.run({ path })) ?? "";
			if (content.length > left)
				throw new ToolRefusal("file_too_large", `"${path}" is too large for one message.`);
			left -= content.length;
			parts.push(content);
			files.push(path);
		} catch (error) {
			if (!(error instanceof ToolRefusal)) throw error;
			problems.push(error.message);
		}
	}
	if (paths.length > MOST_FILES) problems.push(`Only the first ${MOST_FILES} files were read.`);
	return { text: [text, ...parts].join("\n\n"), files, images, problems };
}

/** Returns the files of a folder for a menu. */
export async function fileChoices(dir: string): Promise<readonly Choice[]> {
	const { files } = await walkFiles(dir, "");
	return files.map(({ path, size }) => ({
		text: mentionOf(path),
		label: path,
		detail: formatBytes(size),
	}));
}
