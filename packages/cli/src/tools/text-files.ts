/**
 * Reads text files for the tools and caches recent ones in bounded memory, because a model tends to search the same files
 * several times at once.
 */
import { type JudgedPath, openInside } from "./open-inside.ts";

/** Files larger than this many bytes are neither read nor searched. */
export const LARGEST_TEXT_FILE: number = 32 * 1024 * 1024;
const CACHE_CHARACTERS = 24 * 1024 * 1024;

/** Lines of a text file, or undefined for a binary one. */
export interface TextFiles {
	lines(
		file: JudgedPath & { readonly size: number; readonly modified: number },
	): Promise<readonly string[] | undefined>;
	/** Invalidates a cached file, because its replacement may have the same time and size. */
	forget(absolute: string): void;
}

/** Creates a reader of text files with a separate cache. */
export function createTextFiles(): TextFiles {
	const cache = new Map<string, { readonly lines: readonly string[] | undefined; readonly cost: number }>();
	let cached = 0;
	return {
		async lines(file) {
			const key = `${file.absolute}\0${file.size}\0${file.modified}`;
			const known = cache.get(key);
			if (known) return known.lines;
			const text = decodeText(await readBytes(file, LARGEST_TEXT_FILE));
			const lines = text === undefined ? undefined : splitLines(text);
			const cost = 200 + (text?.length ?? 0);
			if (cost < CACHE_CHARACTERS / 4) {
				// Two readers may have loaded the same file at the same time.
				if (!cache.has(key)) cached += cost;
				cache.set(key, { lines, cost });
				for (const [oldest, entry] of cache) {
					if (cached <= CACHE_CHARACTERS) break;
					cache.delete(oldest);
					cached -= entry.cost;
				}
			}
			return lines;
		},
		forget(absolute) {
			for (const [key, entry] of cache) {
				if (!key.startsWith(`${absolute}\0`)) continue;
				cache.delete(key);
				cached -= entry.cost;
			}
		},
	};
}

/**
 * Reads at most `most` bytes of a file that is still where it was checked.
 * @throws ToolRefusal if it is not; system errors otherwise.
 */
export async function readBytes(file: JudgedPath, most: number): Promise<Uint8Array> {
	const handle = await openInside(file);
	try {
		const { size } = await handle.stat();
		// A file that grows is read only up to its initial size.
		const bytes = Buffer.allocUnsafe(Math.min(size, most));
		let read = 0;
		while (read < bytes.length) {
			const { bytesRead } = await handle.read(bytes, read, bytes.length - read, read);
			if (bytesRead === 0) break;
			read += bytesRead;
		}
		return bytes.subarray(0, read);
	} finally {
		await handle.close();
	}
}

/**
 * Decodes UTF-16 with a byte order mark, UTF-8, or Windows-1252 if the bytes are not valid UTF-8. Undefined if they are
 * not text.
 */
function decodeText(bytes: Uint8Array): string | undefined {
	if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
	if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder("utf-16be").decode(bytes);
	if (bytes.subarray(0, 8192).includes(0)) return undefined;
	try {
		return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
	} catch {
		return new TextDecoder("windows-1252").decode(bytes);
	}
}

function splitLines(text: string): string[] {
	const lines = text.split(/\r\n|\n|\r/);
	if (lines.at(-1) === "") lines.pop();
	return lines;
}
