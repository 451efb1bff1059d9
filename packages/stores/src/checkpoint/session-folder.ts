// The folder name of a session. Plain ids are used directly; characters that could leave the directory, or that a file
// system treats specially, are written as %XXXX (UTF-16). Two ids never share a name, except by case if the file system
// ignores it.
import { createHash } from "node:crypto";

/** Longer names are not supported by every file system. */
const longest = 200;
const hashed = "%sha256-";

/** Returns the folder's name: never empty, never `.` or `..`, without separators, and not starting with a dot. */
export function folderOf(sessionId: string): string {
	const name = encode(sessionId);
	if (name.length <= longest) return name;
	return hashed + createHash("sha256").update(sessionId, "utf16le").digest("hex");
}

/** Returns the session's id; `undefined` if the name is a hash, or not from this store. */
export function sessionOf(folder: string): string | undefined {
	const sessionId =
		folder === "%"
			? ""
			: folder.replaceAll(/%([0-9a-f]{4})/g, (_, unit: string) =>
					String.fromCharCode(Number.parseInt(unit, 16)),
				);
	return folderOf(sessionId) === folder ? sessionId : undefined;
}

/** Whether a folder's name is a hash, which does not contain the session's id. */
export function isHashed(folder: string): boolean {
	return folder.startsWith(hashed);
}

function encode(sessionId: string): string {
	if (sessionId === "") return "%";
	return sessionId
		.replaceAll(/[^A-Za-z0-9._-]/g, escapeUnits)
		.replace(/^\.|\.$|^(?:con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/gi, escapeUnits);
}

function escapeUnits(text: string): string {
	return text
		.split("")
		.map((unit) => `%${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
		.join("");
}
