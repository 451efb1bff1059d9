// Writes a file at once, as editors save: a whole new file takes the name of the old one, so nobody sees half of it.
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Gives a file of a project that text. */
export function replaceFile(folder: string, path: string, text: string): void {
	const saved = join(folder, "saved");
	writeFileSync(saved, text);
	mkdirSync(dirname(path), { recursive: true });
	renameSync(saved, path);
}
