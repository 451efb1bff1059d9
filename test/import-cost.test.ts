// What importing the packages costs.
import { join } from "node:path";
import { expect, test } from "vitest";
import { type BundledFile, bundlePackage } from "../tools/bundle-package.ts";
import { readWorkspaces } from "../tools/workspaces.ts";

const root = join(import.meta.dirname, "..");
const bundled = new Map<string, readonly BundledFile[]>();
for (const workspace of readWorkspaces(root))
	if (["upp", "core"].includes(workspace.folder))
		bundled.set(workspace.name, await bundlePackage(root, workspace));

/** The files that are loaded when a package is imported. */
function loadedBy(name: string, fileName = "index.js", found = new Set<BundledFile>()): Set<BundledFile> {
	const file = bundled.get(name)?.find((each) => each.fileName === fileName);
	if (file === undefined || found.has(file)) return found;
	found.add(file);
	for (const imported of file.imports)
		if (bundled.has(imported)) loadedBy(imported, "index.js", found);
		else loadedBy(name, imported, found);
	return found;
}

// V8 parses all of it when the package is imported, at about 20 ms of CPU per megabyte.
test("importing holdfast parses few bytes, all of them ASCII", () => {
	const files = [...loadedBy("holdfast")];
	expect(files.map(({ fileName }) => fileName)).toContain("index.js");
	for (const { fileName, code } of files) expect(code, fileName).toMatch(/^[\0-\x7f]*$/);
	expect(files.reduce((sum, { code }) => sum + code.length, 0)).toBeLessThan(950_000);
});
