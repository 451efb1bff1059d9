// Checks whether the path of a journal still leads to the open file. Writes to a file that was removed or replaced are
// lost when it is closed, and other processes use another file, so nothing may be acknowledged.
import { statSync } from "node:fs";
import { HoldfastError } from "@holdfast/upp";

/** Milliseconds between two checks, so that they cost continuous work nothing. */
const interval = 50;

/** Creates a check to run before each use of the file. @throws HoldfastError `journal_unavailable`. */
export function sameFile(path: string): () => void {
	const opened = statSync(path);
	let lookedAt = performance.now();
	let isThere = true;
	return () => {
		const now = performance.now();
		if (now - lookedAt >= interval) {
			lookedAt = now;
			const found = statSync(path, { throwIfNoEntry: false });
			isThere = found?.ino === opened.ino && found.dev === opened.dev;
		}
		if (isThere) return;
		throw new HoldfastError(
			"journal_unavailable",
			`The journal's file ${path} was removed or replaced while it was open. Nothing is written to the old file. ` +
				"Restore it, or close the host and open it again.",
			{ data: { path } },
		);
	};
}
