// Packs the packages in the form in which they are published, from the output of `npm run build` in dist, and makes projects depend on them.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "./run-command.ts";
import type { Workspace } from "./workspaces.ts";

/**
 * Packs `workspaces` of the repository at `root` into `folder`, which it creates if necessary. Returns the path of each
 * archive by the name of its package.
 *
 * @throws Error with the output of npm if it fails, or if `signal` aborts.
 */
export async function packPackages(
	root: string,
	workspaces: readonly Workspace[],
	folder: string,
	signal?: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
	mkdirSync(folder, { recursive: true });
	const places = workspaces.map((workspace) => `./packages/${workspace.folder}`);
	const { code, output } = await runCommand(
		["npm", "pack", "--silent", "--pack-destination", folder, ...places],
		{ folder: root, signal },
	);
	const archives = output.split("\n").filter((line) => line.endsWith(".tgz"));
	if (code !== 0 || archives.length !== workspaces.length) throw new Error(`npm pack failed:\n${output}`);
	// npm names an archive after the package, without the signs of its scope, and after its version.
	return new Map(
		workspaces.map(({ name }) => {
			const start = `${name.replace("@", "").replace("/", "-")}-`;
			const archive = archives.find((file) => file.startsWith(start) && /^\d/.test(file.slice(start.length)));
			return [name, join(folder, archive ?? "")];
		}),
	);
}

/** The fields of a project's package.json that this repository's tools change. */
interface ProjectManifest {
	dependencies?: Record<string, string>;
	devDependencies?: Record<string, string>;
	overrides?: Record<string, string>;
	allowScripts?: Record<string, boolean>;
}

/**
 * Makes the project in `folder`, and the packed packages themselves, depend on packed packages instead of published ones.
 * `archives` has a path for each name, absolute or relative to the project.
 */
export function dependOnArchives(folder: string, archives: ReadonlyMap<string, string>): void {
	changeManifest(folder, (manifest) => {
		for (const field of [manifest.dependencies ?? {}, manifest.devDependencies ?? {}])
			for (const name of Object.keys(field))
				if (archives.has(name)) field[name] = `file:${archives.get(name)}`;
		const direct = { ...manifest.dependencies, ...manifest.devDependencies };
		manifest.overrides = Object.fromEntries(
			[...archives].map(([name, archive]) => [name, name in direct ? `$${name}` : `file:${archive}`]),
		);
	});
}

/** Rewrites the package.json in `folder`. */
export function changeManifest(folder: string, change: (manifest: ProjectManifest) => void): void {
	const file = join(folder, "package.json");
	const manifest: ProjectManifest = JSON.parse(readFileSync(file, "utf8"));
	change(manifest);
	writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`);
}
