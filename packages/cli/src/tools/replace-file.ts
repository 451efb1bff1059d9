/**
 * Puts a text where a file is, or is to be: written beside it, made safe on the disk, then renamed into place. Whoever
 * reads, or dies, at any moment finds the old file or the new one. The file keeps its mode.
 */
import { access, chmod, constants, mkdir, open, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ToolRefusal } from "./assistant-tool.ts";
import type { PlaceToWrite } from "./place-to-write.ts";

/** What is to be written, and what must hold at the last moment. */
export interface Replacement {
	readonly text: string;
	/** Names the draft: the same for every attempt at a call, so that what a dead one left is taken away. */
	readonly draft: string;
	/** Asked right before the new file takes its place; throws when it must not. */
	stillHolds(): Promise<void>;
}

/** Writes the text. Folders that are missing are made. */
export async function replaceFile(place: PlaceToWrite, replacement: Replacement): Promise<void> {
	try {
		await replace(place, replacement);
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		if (error instanceof ToolRefusal || code === undefined) throw error;
		throw new ToolRefusal("path_unwritable", `"${place.relative}" cannot be written: ${code}.`);
	}
}

async function replace(place: PlaceToWrite, replacement: Replacement): Promise<void> {
	const folder = dirname(place.absolute);
	await mkdir(folder, { recursive: true });
	// Somebody may have put a link in the way meanwhile.
	if ((await realpath(folder)) !== folder)
		throw new ToolRefusal("path_invalid", `The folder of "${place.relative}" has just become a link.`);
	const mode = place.kind === "file" ? await modeOf(place) : undefined;
	const draft = draftOf(place, replacement.draft);
	try {
		const handle = await open(draft, "wx");
		try {
			await handle.writeFile(replacement.text);
			await handle.sync();
		} finally {
			await handle.close();
		}
		if (mode !== undefined) await chmod(draft, mode);
		await replacement.stillHolds();
		await rename(draft, place.absolute);
	} finally {
		await rm(draft, { force: true });
	}
	await syncFolder(folder);
}

/** Takes away what an attempt that died left beside the file. */
export async function removeDraft(place: PlaceToWrite, draft: string): Promise<void> {
	await rm(draftOf(place, draft), { force: true });
}

function draftOf({ absolute }: PlaceToWrite, draft: string): string {
	return join(dirname(absolute), `.holdfast-${draft}.tmp`);
}

/** The mode of a file that may be written; renaming would pass over a write protection. */
async function modeOf({ absolute, relative }: PlaceToWrite): Promise<number> {
	const { mode } = await stat(absolute);
	const isWritable = await access(absolute, constants.W_OK).then(
		() => (mode & 0o222) !== 0,
		() => false,
	);
	if (!isWritable) throw new ToolRefusal("path_protected", `"${relative}" is write-protected.`);
	return mode & 0o7777;
}

/** So that a loss of power does not bring the old file back. Not every system can. */
async function syncFolder(folder: string): Promise<void> {
	const handle = await open(folder, "r").catch(() => undefined);
	await handle?.sync().catch(() => {});
	await handle?.close();
}
