// Bundles the entries of a package as they are shipped: one file per entry, and one for the code that the first entry
// shares with others.
import { join, relative } from "node:path";
import { type ChunkingContext, rolldown, type SourceMap } from "rolldown";
import { outputOf, type Workspace } from "./workspaces.ts";

/** A file to be written. */
export interface BundledFile {
	/** Relative to dist. */
	readonly fileName: string;
	readonly code: string;
	/** A file that only re-exports has none. */
	readonly map: SourceMap | null;
	/** Files and packages that are loaded before it runs. */
	readonly imports: readonly string[];
}

/** A module and everything that it imports statically. */
function staticImportsOf(first: string, modules: ChunkingContext): ReadonlySet<string> {
	const found = new Set([first]);
	for (const id of found)
		for (const imported of modules.getModuleInfo(id)?.importedIds ?? []) found.add(imported);
	return found;
}

/** Bundles the entries and commands of a package of the repository at `root`. */
export async function bundlePackage(
	root: string,
	{ folder, entries, commands }: Workspace,
): Promise<readonly BundledFile[]> {
	const place = join(root, "packages", folder);
	const sources = entries.map(({ source }) => join(place, source));
	if (commands.length > 0) sources.push(join(place, "src/main.ts"));
	if (sources.length === 0) return [];
	const build = await rolldown({
		cwd: root,
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
	return output.filter((part) => part.type === "chunk");
}
