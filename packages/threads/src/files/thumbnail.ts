// Thumbnails of pictures. The decoder is `sharp`, which is loaded on first use.
import type { ThreadFiles } from "./thread-files.ts";

/** Pixels of the longer side of a thumbnail. */
const longestSide = 256;
/** Maximum number of pixels of a decoded picture: a small file may claim to be a huge picture. */
const mostPixels = 64_000_000;
/** Maximum number of bytes of a picture that are read. */
const mostBytes = 64 * 1024 * 1024;
/** Decoded formats. The others would run code meant for documents. */
const formats = new Set(["jpeg", "png", "webp", "gif", "heif", "tiff"]);

/**
 * Returns a WebP picture of at most 256 pixels per side, upright; null if the file is not a picture that can be decoded.
 */
export async function thumbnailOf(files: ThreadFiles, path: string): Promise<ArrayBuffer | null> {
	const found = await files.statFile(path);
	if (found === null || found.isDirectory || found.size > mostBytes) return null;
	const bytes = await files.readFile(path);
	if (bytes === null || !looksLikePicture(new Uint8Array(bytes, 0, Math.min(bytes.byteLength, 16))))
		return null;
	const { default: sharp } = await import("sharp");
	try {
		const picture = sharp(bytes, { limitInputPixels: mostPixels });
		const { format } = await picture.metadata();
		if (!formats.has(format)) return null;
		const { data } = await picture
			.rotate()
			.resize({ width: longestSide, height: longestSide, fit: "inside", withoutEnlargement: true })
			.webp({ quality: 75 })
			.toBuffer({ resolveWithObject: true });
		return new Uint8Array(data).buffer;
	} catch {
		return null;
	}
}

/** Checks the first bytes, so that other files do not load the decoder. */
function looksLikePicture(head: Uint8Array): boolean {
	const text = String.fromCharCode(...head);
	return (
		text.startsWith("\u0089PNG\r\n") ||
		text.startsWith("\u00ff\u00d8\u00ff") ||
		text.startsWith("GIF8") ||
		(text.startsWith("RIFF") && text.slice(8, 12) === "WEBP") ||
		text.slice(4, 8) === "ftyp" ||
		text.startsWith("II*\u0000") ||
		text.startsWith("MM\u0000*")
	);
}
