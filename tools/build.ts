// Builds every package into its dist folder: type declarations by the compiler, reduced to what the public entries refer
// to, and one bundled file per entry, which loads faster than many small ones. Files in dist without a source are
// removed, so that a deleted source cannot be published from an old build. With names of folders under packages/ as
// arguments, it builds these packages and what they are compiled with.
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { bundlePackage } from "./bundle-package.ts";
import { listFiles } from "./list-sources.ts";
import { pruneDeclarations } from "./prune-declarations.ts";
import { runCommand } from "./run-command.ts";
import { outputOf, readWorkspaces, type Workspace } from "./workspaces.ts";

const root = join(import.meta.dirname, "..");

/** Bundles the entries of a package and returns the files it wrote, relative to dist. */
async function bundle(workspace: Workspace): Promise<readonly string[]> {
	const dist = join(root, "packages", workspace.folder, "dist");
	const files = await bundlePackage(root, workspace);
	for (const { fileName, code, map } of files) {
		const into = join(dist, fileName);
		mkdirSync(dirname(into), { recursive: true });
		writeFileSync(into, code);
		if (map !== null) writeFileSync(`${into}.map`, JSON.stringify(map));
	}
	return files.flatMap(({ fileName, map }) => (map === null ? [fileName] : [fileName, `${fileName}.map`]));
}

/** Writes the files of a package's page as a module, so that bundlers find them; returns the names of the files it wrote. */
async function writePageOf({ folder }: Workspace): Promise<readonly string[]> {
	const builder = join(root, "packages", folder, "src/assets/bundle-page.ts");
	if (!existsSync(builder)) return [];
	const { pageFiles } = (await import(builder)) as { pageFiles(): Promise<ReadonlyMap<string, Uint8Array>> };
	const files = [...(await pageFiles())].map(([name, content]) => [
		name,
		Buffer.from(content).toString("base64"),
	]);
	const code = `const files = ${JSON.stringify(files, undefined, "\t")};
export const pageFiles = async () =>
	new Map(files.map(([name, content]) => [name, Uint8Array.from(atob(content), (byte) => byte.charCodeAt(0))]));
`;
	writeFileSync(join(root, "packages", folder, "dist/page.js"), code);
	return ["page.js"];
}

function removeLeftovers(workspace: Workspace, written: readonly string[]): void {
	const dist = join(root, "packages", workspace.folder, "dist");
	if (!existsSync(dist)) return;
	const entries = workspace.entries.map(({ source }) => `${outputOf(source)}.d.ts`);
	const declarations = pruneDeclarations(dist, entries);
	mkdirSync(join(dist, "shared"), { recursive: true });
	for (const [file, text] of declarations) writeFileSync(join(dist, file), text);
	const kept = new Set([...written, ...declarations.keys()]);
	for (const file of listFiles(dist, "")) if (!kept.has(file)) rmSync(join(dist, file));
	// The compiler must not take what was removed for what it has written.
	for (const file of [".tsbuildinfo"]) rmSync(join(dist, file), { force: true });
}

/** Whether the compiler has written the package now: the record that it leaves is removed by each build. */
function wasCompiled({ folder }: Workspace): boolean {
	return existsSync(join(root, "packages", folder, "dist/.tsbuildinfo"));
}

const folders = process.argv.slice(2).map((folder) => join("packages", folder));
const { code, output } = await runCommand([`${root}/node_modules/.bin/tsc`, "-b", ...folders], {
	folder: root,
});
process.stdout.write(output);
process.exitCode = code;
if (code === 0)
	for (const workspace of readWorkspaces(root).filter(wasCompiled)) {
		const written = await bundle(workspace);
		removeLeftovers(workspace, [...written, ...(await writePageOf(workspace))]);
	}
