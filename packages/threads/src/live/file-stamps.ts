// The state of the files in some folders at one moment, to find later changes.
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";

/** The state of a file. */
export interface FileStamp {
	/** Changes with every write. */
	readonly text: string;
	/** When it was last written, in milliseconds since 1970. */
	readonly modified: number;
}

/** Stamps by path. */
export type FileStamps = ReadonlyMap<string, FileStamp>;

/** Returns all folders in a folder, including itself, but not hidden ones and `node_modules`. */
export async function foldersIn(folder: string): Promise<readonly string[]> {
	const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
	const below = entries
		.filter((entry) => entry.isDirectory() && !entry.name.startsWith(".") && entry.name !== "node_modules")
		.map(({ name }) => foldersIn(join(folder, name)));
	return [folder, ...(await Promise.all(below)).flat()];
}

/** Returns stamps of the files directly in these folders. A file that vanishes during the scan has no stamp. */
export async function stampsOf(folders: readonly string[]): Promise<FileStamps> {
	const stamps = new Map<string, FileStamp>();
	await Promise.all(
		folders.map(async (folder) => {
			const names = await readdir(folder).catch(() => []);
			await Promise.all(
				names.map(async (name) => {
					const file = join(folder, name);
					const found = await stat(file, { bigint: true }).catch(() => undefined);
					if (found?.isFile())
						stamps.set(file, {
							text: `${found.ino} ${found.size} ${found.mtimeNs}`,
							modified: Number(found.mtimeMs),
						});
				}),
			);
		}),
	);
	return stamps;
}

/** Returns the files that were added, removed or written, sorted. */
export function changedFiles(before: FileStamps, after: FileStamps): readonly string[] {
	return [...new Set([...before.keys(), ...after.keys()])]
		.filter((file) => before.get(file)?.text !== after.get(file)?.text)
		.sort();
}
