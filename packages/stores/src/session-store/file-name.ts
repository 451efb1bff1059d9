// The file of a key. Names are in small letters, digits, `-` and `_`; all else is written as %XXXX (UTF-16), so that two
// keys never share a file, on file systems that ignore case or normalise names either, and none leaves the folder.
import { createHash } from "node:crypto";

/** Longer names would not fit into every file system, with what is put after them. */
const longest = 150;

/** The name of a key's file, without a suffix. It never is empty, hidden or reserved. */
export function fileNameOf(key: string): string {
	const name = key.replaceAll(/[^a-z0-9_-]/g, escapeUnits);
	if (name.length <= longest) return `k-${name}`;
	return `h-${createHash("sha256").update(key, "utf16le").digest("hex")}`;
}

function escapeUnits(text: string): string {
	return text
		.split("")
		.map((unit) => `%${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
		.join("");
}
