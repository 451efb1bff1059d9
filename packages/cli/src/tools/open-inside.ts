/**
 * Opens files and folders of the root as descriptors. A folder may be replaced by a link between the check of a path and
 * its opening: the opened file is therefore checked again, and entries are reached through their open folder. Linux
 * reports the location of a descriptor. On other systems the path is resolved a second time, which an attacker who
 * replaces it twice can bypass.
 */
import { constants } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readlink, realpath, stat } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { ToolRefusal } from "./assistant-tool.ts";

/** A path whose links were followed, and that was inside the root at that time. */
export interface JudgedPath {
	/** Absolute, without links. */
	readonly absolute: string;
	/** As the model sees it. */
	readonly relative: string;
}

/** Reads the location of an open descriptor from the system. */
export interface Descriptors {
	/** The folder in which each descriptor is a link to its open file; undefined if the system has none. */
	readonly folder: string | undefined;
}

const ofThisSystem: Descriptors = { folder: process.platform === "linux" ? "/proc/self/fd" : undefined };

// Never blocks on a pipe or a terminal. Windows has neither flag.
const toLook = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);
const toEnter = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0);

/**
 * Opens a file or folder for reading; the caller closes it.
 * @throws ToolRefusal if it is no longer at its path; system errors otherwise.
 */
export async function openInside(
	path: JudgedPath,
	descriptors: Descriptors = ofThisSystem,
): Promise<FileHandle> {
	const handle = await open(path.absolute, toLook);
	try {
		if (await isAt(handle, path.absolute, descriptors)) return handle;
	} catch (error) {
		await handle.close();
		throw error;
	}
	await handle.close();
	throw exchanged(path);
}

/** A folder of the root that is held open, so that it cannot be replaced. */
export interface OpenFolder {
	readonly handle: FileHandle;
	/** Returns a path that leads to an entry of this folder, even if the folder was moved. */
	entry(name: string): string;
	/** Whether the folder is still where it was opened. */
	isInPlace(): Promise<boolean>;
}

/** Opens a folder; the caller closes its handle. */
export async function openFolder(
	path: JudgedPath,
	descriptors: Descriptors = ofThisSystem,
): Promise<OpenFolder> {
	const folder = openedFolder(await open(path.absolute, toEnter), path, descriptors);
	try {
		if (await folder.isInPlace()) return folder;
	} catch (error) {
		await folder.handle.close();
		throw error;
	}
	await folder.handle.close();
	throw exchanged(path);
}

/** Opens the parent folder of a file, creating missing folders. Follows no links on the way. */
export async function makeFolder(
	root: string,
	file: JudgedPath,
	descriptors: Descriptors = ofThisSystem,
): Promise<OpenFolder> {
	const way = relative(root, dirname(file.absolute));
	let folder = await openFolder({ absolute: root, relative: file.relative }, descriptors);
	let at = root;
	for (const name of way === "" ? [] : way.split(sep)) {
		at = join(at, name);
		const above = folder;
		try {
			const handle = await enter(above.entry(name), file);
			folder = openedFolder(handle, { absolute: at, relative: file.relative }, descriptors);
		} finally {
			await above.handle.close();
		}
	}
	return folder;
}

async function enter(path: string, file: JudgedPath): Promise<FileHandle> {
	for (;;) {
		try {
			return await open(path, toEnter);
		} catch (error) {
			const { code } = error as NodeJS.ErrnoException;
			if (code === "ENOENT") {
				// Another caller may create it at the same time.
				await mkdir(path).catch((failure: NodeJS.ErrnoException) => {
					if (failure.code !== "EEXIST") throw failure;
				});
				continue;
			}
			if (await isLink(path)) throw exchanged(file);
			throw error;
		}
	}
}

function openedFolder(handle: FileHandle, path: JudgedPath, descriptors: Descriptors): OpenFolder {
	const { folder } = descriptors;
	return {
		handle,
		entry: (name) => join(folder === undefined ? path.absolute : `${folder}/${handle.fd}`, name),
		isInPlace: () => isAt(handle, path.absolute, descriptors),
	};
}

/** Whether the open file is the one that the path led to when it was checked. */
async function isAt(handle: FileHandle, absolute: string, { folder }: Descriptors): Promise<boolean> {
	if (folder !== undefined) {
		const place = await readlink(`${folder}/${handle.fd}`).catch(() => undefined);
		// A file that was removed or replaced since is still the requested one.
		if (place !== undefined) return place === absolute || place === `${absolute} (deleted)`;
	}
	const path = await realpath(absolute);
	if (path !== absolute) return false;
	const [opened, found] = [await handle.stat({ bigint: true }), await stat(path, { bigint: true })];
	return opened.ino === found.ino && opened.dev === found.dev;
}

function isLink(path: string): Promise<boolean> {
	return lstat(path).then(
		(found) => found.isSymbolicLink(),
		() => false,
	);
}

/** Creates the refusal of a path that changed after it was checked. */
export function exchanged({ relative: path }: JudgedPath): ToolRefusal {
	return new ToolRefusal(
		"path_invalid",
		`"${path}" was moved or replaced while it was opened. Read it again.`,
	);
}
