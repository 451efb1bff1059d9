// Builds every package into its dist folder: type declarations by the compiler, reduced to what the public entries refer
// to, and one bundled file per entry, which loads faster than many small ones. Files in dist without a source are
// removed, so that a deleted source cannot be published from an old build. With names of folders under packages/ as
// arguments, it builds these packages and what they are compiled with.
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { type ChunkingContext, type OutputAsset, type OutputChunk, rolldown } from "rolldown";
import { listFiles } from "./list-sources.ts";
import { pruneDeclarations } from "./prune-declarations.ts";
import { runCommand } from "./run-command.ts";
import { outputOf, readWorkspaces, type Workspace } from "./workspaces.ts";

const root = join(import.meta.dirname, "..");

/** A module and everything that it imports statically. */
function staticImportsOf(first: string, modules: ChunkingContext): ReadonlySet<string> {
	const found = new Set([first]);
	for (const id of found)
		for (const imported of modules.getModuleInfo(id)?.importedIds ?? []) found.add(imported);
	return found;
}

/** Bundles the entries of a package and returns the files it wrote, relative to dist. */
async function bundle({ folder, entries, commands }: Workspace): Promise<readonly string[]> {
	const place = join(root, "packages", folder);
	const sources = entries.map(({ source }) => join(place, source));
	if (commands.length > 0) sources.push(join(place, "src/main.ts"));
	if (sources.length === 0) return [];
	const build = await rolldown({
		input: Object.fromEntries(sources.map((source) => [outputOf(relative(place, source)), source])),
		external: /^[^./]/,
		platform: "neutral",
		treeshake: true,
	});
	let loadedFirst: ReadonlySet<string> | undefined;
	const { output } = await build.generate({
		dir: join(place, "dist"),
		format: "esm",
		entryFileNames: "[name].js",
		chunkFileNames: "shared/[name]-[hash].js",
		// Code that the first entry shares with others is one file: each file takes longer to find and open than to read.
		codeSplitting: {
			groups: [
				{
					name(id, modules) {
						loadedFirst ??= staticImportsOf(sources[0] as string, modules);
						return loadedFirst.has(id) ? "common" : null;
					},
					debugName: "common",
					minShareCount: 2,
				},
			],
		},
		// Comments that change what a bundler does with an import.
		comments: { annotation: true, jsdoc: false, legal: false },
		sourcemap: true,
		// Readable in stack traces, debuggers and editors: applications minify it when they are bundled.
		minify: false,
	});
	await build.close();
	return output.flatMap((part) => writePart(join(place, "dist"), part));
}

/** Writes a bundled file and its map, and returns their names. A file that only re-exports has no map. */
function writePart(dist: string, part: OutputChunk | OutputAsset): readonly string[] {
	if (part.type === "asset") return [];
	const { fileName, code, map } = part;
	const into = join(dist, fileName);
	mkdirSync(dirname(into), { recursive: true });
	if (map === null) writeFileSync(into, code);
	else {
		writeFileSync(into, code);
		writeFileSync(`${into}.map`, JSON.stringify(map));
	}
	return map === null ? [fileName] : [fileName, `${fileName}.map`];
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
