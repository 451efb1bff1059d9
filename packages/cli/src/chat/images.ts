/** Images in messages: from files that a message mentions, from paths that are pasted or dropped, and from the clipboard. */
import { execFile } from "node:child_process";
import { constants, existsSync, statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { ImageBlock } from "@holdfast/upp";
import { formatBytes } from "../terminal/index.ts";
import { openPath, ToolRefusal } from "../tools/index.ts";

/** Maximum size of an image in bytes; providers accept about as much. */
const LONGEST_IMAGE = 5_000_000;
/** Milliseconds that the clipboard's tool may take. */
const CLIPBOARD_MS = 5_000;

/**
 * The images that the user chose, by absolute path: dropped files, and images of the clipboard, which are in memory only.
 */
export type ChosenImages = Map<string, "file" | Uint8Array>;

/** Maximum number of images of the clipboard that are kept. */
const MOST_KEPT = 20;

const ending = /\.(?:png|jpe?g|gif|webp)$/i;

/** Whether a path is that of an image, by its ending. */
export function isImagePath(path: string): boolean {
	return ending.test(path);
}

/** Returns the type of an image by its first bytes; undefined for other files. */
export function imageType(bytes: Uint8Array): string | undefined {
	const start = Buffer.from(bytes.subarray(0, 12)).toString("latin1");
	if (start.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
	if (start.startsWith("\xff\xd8\xff")) return "image/jpeg";
	if (/^GIF8[79]a/.test(start)) return "image/gif";
	return /^RIFF[\s\S]{4}WEBP$/.test(start) ? "image/webp" : undefined;
}

/**
 * Reads an image in the folder, or one that the user chose. A mention alone is no choice, because it may be part of a text
 * that the user pasted or piped.
 * @throws ToolRefusal if it is outside the folder and was not chosen, missing, too large, or not an image.
 */
export async function readImage(
	path: string,
	dir: string,
	chosen: ReadonlyMap<string, "file" | Uint8Array>,
): Promise<ImageBlock> {
	const whole = resolve(dir, path.replace(/^~(?=\/)/, homedir()));
	const kept = chosen.get(whole);
	if (kept !== undefined && kept !== "file") return blockOf(kept, path);
	const handle = await (chosen.has(whole) ? openAnywhere(whole) : openPath(dir, whole)).catch((error) => {
		throw notOpened(path, error);
	});
	try {
		const info = await handle.stat();
		if (!info.isFile()) throw new ToolRefusal("file_not_found", `"${path}" is not a file.`);
		if (info.size > LONGEST_IMAGE)
			throw new ToolRefusal(
				"file_too_large",
				`"${path}" is larger than ${formatBytes(LONGEST_IMAGE)}, the limit for images. Make it smaller.`,
			);
		return blockOf(await handle.readFile(), path);
	} finally {
		await handle.close();
	}
}

function blockOf(bytes: Uint8Array, path: string): ImageBlock {
	const mimeType = imageType(bytes);
	if (mimeType === undefined)
		throw new ToolRefusal("file_not_text", `"${path}" is not a PNG, JPEG, GIF or WebP image.`);
	return { type: "image", mimeType, source: { type: "base64", data: Buffer.from(bytes).toString("base64") } };
}

function openAnywhere(path: string): Promise<FileHandle> {
	// Never blocks on a pipe.
	return open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
}

function notOpened(path: string, error: unknown): ToolRefusal {
	return error instanceof ToolRefusal && error.code === "path_outside_root"
		? new ToolRefusal(
				"path_outside_root",
				`"${path}" was not sent: it is outside the folder. Copy it into the folder, or drop the file on a chat without --plain.`,
			)
		: new ToolRefusal("file_not_found", `"${path}" cannot be read.`);
}

/** Returns how a message mentions a path. Quotes end an unquoted mention, as spaces do. */
export function mentionOf(path: string): string {
	return `@${/[\s'`]/.test(path) ? `"${path}"` : path} `;
}

/**
 * Returns what a pasted text becomes: the path of an existing image, as terminals insert one that is dropped on them,
 * becomes its mention, and is added to `chosen`. Other text stays as it is.
 */
export function pastedText(text: string, dir: string, chosen: ChosenImages): string {
	const path = droppedPath(text.trim());
	if (path === undefined || !isImagePath(path) || path.includes('"')) return text;
	const whole = resolve(dir, path);
	try {
		if (!statSync(whole).isFile()) return text;
	} catch {
		return text;
	}
	chosen.set(whole, "file");
	return mentionOf(path);
}

/** Undefined for a text that is not a single path. */
function droppedPath(text: string): string | undefined {
	if (text === "" || text.length > 4_000 || /[\n\r]/.test(text)) return undefined;
	if (text.startsWith("file://"))
		try {
			return fileURLToPath(text);
		} catch {
			return undefined;
		}
	const [, single, double] = /^(?:'([^']+)'|"([^"]+)")$/.exec(text) ?? [];
	const path = single ?? double ?? text.replace(/\\(.)/g, "$1");
	return isAbsolute(path) || path.startsWith("./") ? path : undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Returns the program, and its arguments, that writes the clipboard's image as PNG; undefined if there is none. */
function clipboardTool({ WAYLAND_DISPLAY = "", DISPLAY = "" }: Environment): readonly string[] | undefined {
	if (process.platform === "darwin") return ["osascript", "-e", "the clipboard as «class PNGf»"];
	if (WAYLAND_DISPLAY !== "") return ["wl-paste", "--no-newline", "--type", "image/png"];
	return DISPLAY === "" ? undefined : ["xclip", "-selection", "clipboard", "-target", "image/png", "-out"];
}

/** Keeps an image of the clipboard; returns its mention. Of many images, the latest are kept. */
export function keepImage(bytes: Uint8Array, dir: string, chosen: ChosenImages): string {
	let number = chosen.size + 1;
	const name = (): string => `clipboard-${number}.png`;
	while (chosen.has(resolve(dir, name())) || existsSync(resolve(dir, name()))) number++;
	chosen.set(resolve(dir, name()), bytes);
	const kept = [...chosen].filter(([, content]) => content !== "file");
	for (const [path] of kept.slice(0, -MOST_KEPT)) chosen.delete(path);
	return mentionOf(name());
}

/** Returns the clipboard's image, or why there is none. */
export async function clipboardImage(
	environment: Environment = process.env,
): Promise<{ readonly bytes: Uint8Array } | { readonly problem: string }> {
	const [program, ...argv] = clipboardTool(environment) ?? [];
	if (program === undefined)
		return { problem: "The clipboard cannot be read here. Save the image, and mention its file with @PATH." };
	const output = await new Promise<Buffer | { readonly code?: unknown }>((settle) => {
		const limits = {
			timeout: CLIPBOARD_MS,
			maxBuffer: 4 * LONGEST_IMAGE,
			encoding: "buffer",
			env: environment,
		} as const;
		execFile(program, argv, limits, (error, stdout) => settle(error ?? stdout));
	});
	if (!Buffer.isBuffer(output))
		return output.code === "ENOENT"
			? { problem: `Install ${program} to paste images, or mention an image file with @PATH.` }
			: { problem: "The clipboard has no image." };
	// AppleScript writes the bytes as hexadecimal digits.
	const [, digits] = /^«data PNGf([0-9A-F]+)»/.exec(output.toString("utf8", 0, 4 * LONGEST_IMAGE)) ?? [];
	const bytes = digits === undefined ? output : Buffer.from(digits, "hex");
	if (imageType(bytes) === undefined) return { problem: "The clipboard has no image." };
	if (bytes.length > LONGEST_IMAGE)
		return { problem: `The image is larger than ${formatBytes(LONGEST_IMAGE)}, the limit for images.` };
	return { bytes };
}
