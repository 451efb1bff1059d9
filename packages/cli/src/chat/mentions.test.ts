import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { fileChoices, withFiles } from "./mentions.ts";

function folder(): string {
	const root = temporaryFolder();
	mkdirSync(join(root, "docs"));
	writeFileSync(join(root, "docs/a b.md"), "spaces\n");
	writeFileSync(join(root, "notes.md"), "green\n");
	return root;
}

test("mentioned files follow the message, each once; an address is not a file", async () => {
	const said = 'Compare @notes.md, @"docs/a b.md" and @notes.md. Ask ann@example.com.';
	const { text, files, problems } = await withFiles(said, folder());
	expect(files).toEqual(["notes.md", "docs/a b.md"]);
	expect(problems).toEqual([]);
	expect(text.startsWith(`${said}\n\nnotes.md: lines 1-1 of 1\n1\tgreen`)).toBe(true);
	expect(text.match(/green/g)).toHaveLength(1);
});

test("files outside of the folder are rejected, by paths and by links", async () => {
	const root = folder();
	symlinkSync("/etc/passwd", join(root, "link"));
	const { text, files, problems } = await withFiles("See @/etc/passwd @../x @link @missing", root);
	expect(files).toEqual([]);
	expect(problems).toHaveLength(4);
	expect(text).toBe("See @/etc/passwd @../x @link @missing");
});

test("paths are offered in the form in which a message mentions them", async () => {
	expect(await fileChoices(folder())).toEqual([
		{ text: "@notes.md ", label: "notes.md", detail: "6 bytes" },
		{ text: '@"docs/a b.md" ', label: "docs/a b.md", detail: "7 bytes" },
	]);
});
