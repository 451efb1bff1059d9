// The file methods of a thread, over the values that a host stores with a session.
import { HoldfastError, type Host } from "holdfast";
import type { FindResult, ThreadState } from "../types/index.ts";
import { compileGlob } from "./glob.ts";
import { grepFiles } from "./grep.ts";
import { ThreadFiles } from "./thread-files.ts";
import { thumbnailOf } from "./thumbnail.ts";

/** The file methods of a thread. */
export type FileMethods = Pick<
	ThreadState,
	| "writeFile"
	| "readFile"
	| "readFileStream"
	| "statFile"
	| "readdirFile"
	| "unlinkFile"
	| "mkdirFile"
	| "rmdirFile"
	| "getFileStats"
	| "grepFiles"
	| "findFiles"
	| "getFileThumbnail"
>;

/** Marks the files and their descriptions among the values stored with a session. */
const filesOwner = "thread-files";

/** Returns the files of the session with a key in the store. @throws HoldfastError `host_without_files`. */
export function filesOf({ files, values }: Pick<Host, "files" | "values">, storeKey: string): ThreadFiles {
	if (files === undefined)
		throw new HoldfastError(
			"host_without_files",
			"This host does not store files. Use one that does, such as `sqliteHost` or `memoryHost`.",
		);
	return new ThreadFiles({
		bytes: files.of(storeKey, filesOwner),
		entries: values.values(storeKey, filesOwner),
	});
}

/** Returns the methods of `ThreadState` for these files. */
export function fileMethods(files: ThreadFiles): FileMethods {
	return {
		writeFile: (path, data, mimeType, options) => files.writeFile(path, data, mimeType, options),
		readFile: (path) => files.readFile(path),
		readFileStream: (path, options) => files.readFileStream(path, options),
		statFile: (path) => files.statFile(path),
		readdirFile: (path) => files.readdirFile(path),
		unlinkFile: (path) => files.unlinkFile(path),
		mkdirFile: (path) => files.mkdirFile(path),
		rmdirFile: (path) => files.rmdirFile(path),
		getFileStats: () => files.getFileStats(),
		grepFiles: (pattern) => grepFiles(files, pattern),
		findFiles: (pattern) => findFiles(files, pattern),
		getFileThumbnail: (path) => thumbnailOf(files, path),
	};
}

/** Returns the paths of the files that match a glob, sorted. @throws HoldfastError `invalid_pattern`. */
async function findFiles(files: ThreadFiles, glob: string): Promise<FindResult> {
	const matches = compileGlob(glob);
	return { paths: (await files.files()).map(({ path }) => path).filter(matches) };
}
