/** Reverts an approved change of a file, if the file has not changed since. */
import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { ToolRefusal } from "./assistant-tool.ts";
import { placeToWrite } from "./place-to-write.ts";
import { currentVersion, type PlannedChange } from "./planned-change.ts";
import { replaceFile } from "./replace-file.ts";

/** Returns whether the file was restored. A new file is deleted. A file that has changed since is left alone. */
export async function revertChange(root: string, change: PlannedChange): Promise<boolean> {
	const { versions, before } = change;
	const place = await placeToWrite(root, change.place.relative);
	if ((await currentVersion(place)) !== versions.after) return false;
	if (before === undefined) {
		await rm(place.absolute);
		return true;
	}
	await replaceFile(place, {
		text: before,
		draft: randomUUID().slice(0, 24),
		async stillHolds() {
			if ((await currentVersion(place)) !== versions.after)
				throw new ToolRefusal(
					"file_changed",
					`"${place.relative}" has just changed, so it was not restored.`,
				);
		},
	});
	return true;
}
