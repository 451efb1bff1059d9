import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { type PlannedChange, planChange } from "../tools/index.ts";
import { revertAll } from "./revert-all.ts";

/** Makes a change as an approved call does, and returns it. */
async function changed(dir: string, path: string, content: string): Promise<PlannedChange> {
	const change = await planChange(dir, "write_file", { path, content });
	writeFileSync(join(dir, path), change.after);
	return change;
}

test("changes are undone, the latest first, and new files are deleted", async () => {
	const dir = temporaryFolder();
	writeFileSync(join(dir, "a.txt"), "one\n");
	const made = [
		await changed(dir, "a.txt", "two\n"),
		await changed(dir, "a.txt", "three\n"),
		await changed(dir, "b.txt", "b\n"),
	];
	expect(await revertAll(dir, made.toReversed())).toEqual({ restored: ["b.txt", "a.txt"], left: [] });
	expect(readFileSync(join(dir, "a.txt"), "utf8")).toBe("one\n");
	expect(existsSync(join(dir, "b.txt"))).toBe(false);
});

test("a file that has changed since keeps its content, with all of its earlier changes", async () => {
	const dir = temporaryFolder();
	const made = [await changed(dir, "a.txt", "one\n"), await changed(dir, "a.txt", "two\n")];
	writeFileSync(join(dir, "a.txt"), "one\n");
	expect(await revertAll(dir, made.toReversed())).toEqual({ restored: [], left: ["a.txt"] });
	expect(readFileSync(join(dir, "a.txt"), "utf8")).toBe("one\n");
});
