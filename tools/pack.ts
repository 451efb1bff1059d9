// Packs the packages as they are published, from the output of `npm run build` in dist.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "./run-command.ts";
import type { Workspace } from "./workspaces.ts";

/**
 * Packs `workspaces` of the repository at `root` into `folder`, which is made where it is missing; gives the archive of each
 * by its name.
 *
 * @throws Error with what npm said when it fails.
 */
export async function packPackages(
	root: string,
	workspaces: readonly Workspace[],
	folder: string,
): Promise<ReadonlyMap<string, string>> {
	mkdirSync(folder, { recursive: true });
	const places = workspaces.map((workspace) => `./packages/${workspace.folder}`);
	const { code, output } = await runCommand(
		["npm", "pack", "--silent", "--pack-destination", folder, ...places],
		{ folder: root },
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
