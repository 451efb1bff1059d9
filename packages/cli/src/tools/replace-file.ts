/**
 * Creates or replaces a file atomically: the text is written next to it, flushed to disk, then renamed. Readers find
 * either the old file or the new one, even after a crash. The file keeps its mode. All steps use the opened folder, even
 * if another takes its path.
 */
import { access, constants, lstat, open, rename, rm } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { ToolRefusal } from "./assistant-tool.ts";
import { exchanged, makeFolder, type OpenFolder, openFolder } from "./open-inside.ts";
import type { PlaceToWrite } from "./place-to-write.ts";

/** The text to write, and a final check before the rename. */
export interface Replacement {
	readonly text: string;
	/**
	 * Names the draft. It is the same for every attempt at a call, so that the draft of an interrupted attempt is
	 * removed.
	 */
	readonly draft: string;
	/** Called right before the new file replaces the old; throws to prevent it. */
	stillHolds(): Promise<void>;
}

/** Writes the text, creating missing folders. */
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
	const folder = await makeFolder(place.root, place);
	try {
		const file = folder.entry(basename(place.absolute));
		const mode = place.kind === "file" ? await modeOf(file, place) : undefined;
		const draft = draftIn(folder, replacement.draft);
		try {
			const handle = await open(draft, "wx");
			try {
				await handle.writeFile(replacement.text);
				if (mode !== undefined) await handle.chmod(mode);
				await handle.sync();
			} finally {
				await handle.close();
			}
			await replacement.stillHolds();
			if (!(await folder.isInPlace())) throw exchanged(place);
			await rename(draft, file);
		} finally {
			await rm(draft, { force: true });
		}
		// Prevents a power loss from restoring the old file. Not every system supports it.
		await folder.handle.sync().catch(() => {});
	} finally {
		await folder.handle.close();
	}
}

/** Removes the draft of an interrupted attempt. */
export async function removeDraft(place: PlaceToWrite, draft: string): Promise<void> {
	const path = { absolute: dirname(place.absolute), relative: place.relative };
	// If the folder does not exist, neither does the draft.
	const folder = await openFolder(path).catch(() => undefined);
	try {
		if (folder !== undefined) await rm(draftIn(folder, draft), { force: true });
	} finally {
		await folder?.handle.close();
	}
}

function draftIn(folder: OpenFolder, draft: string): string {
	return folder.entry(`.holdfast-${draft}.tmp`);
}

/** Returns the mode of a writable file. The check is explicit because a rename ignores write protection. */
async function modeOf(file: string, place: PlaceToWrite): Promise<number> {
	const { relative } = place;
	const found = await lstat(file);
	if (!found.isFile()) throw exchanged(place);
	const { mode } = found;
	const isWritable = await access(file, constants.W_OK).then(
		() => (mode & 0o222) !== 0,
		() => false,
	);
	if (!isWritable) throw new ToolRefusal("path_protected", `"${relative}" is write-protected.`);
	return mode & 0o7777;
}
