// An earlier version of the repository next to this one, and a project whose installed packages are exchanged.
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "../../tools/run-command.ts";

const root = join(import.meta.dirname, "../..");

/** The commit of the earlier version, of 2026-11-27. */
const commit = "28bbd2c9460d93d8bad4d2d22e075ad42cd38d3f";

/** Whether the history of this clone includes the earlier version. A shallow clone does not. */
export async function hasEarlierBuild(): Promise<boolean> {
	const { code } = await runCommand(["git", "cat-file", "-e", `${commit}^{commit}`], { folder: root });
	return code === 0;
}

/** Writes the packages of the earlier version into `folder`, which share this version's packages of others. */
export async function writeEarlierBuild(folder: string): Promise<void> {
	mkdirSync(folder);
	const archive = `git -C '${root}' archive ${commit} packages package.json | tar -x -C '${folder}'`;
	const { code, output } = await runCommand(["bash", "-o", "pipefail", "-c", archive], { folder });
	if (code !== 0) throw new Error(`The earlier version cannot be read:\n${output}`);
	linkModules("", folder, (name) => !name.startsWith("@holdfast") && !ownUnscoped.includes(name));
	mkdirSync(join(folder, "node_modules/@holdfast"));
	for (const each of readdirSync(join(folder, "packages"))) {
		const name = ownUnscoped.find((own) => own === each || (own === "holdfast" && each === "core"));
		symlinkSync(join(folder, "packages", each), join(folder, "node_modules", name ?? `@holdfast/${each}`));
		linkModules(join("packages", each), folder, () => true);
	}
}

/** Packages of this repository without a scope. */
const ownUnscoped = ["holdfast", "create-holdfast"];

function linkModules(place: string, folder: string, isLinked: (name: string) => boolean): void {
	const modules = join(place, "node_modules");
	if (!existsSync(join(root, modules))) return;
	mkdirSync(join(folder, modules), { recursive: true });
	for (const name of readdirSync(join(root, modules)))
		if (isLinked(name)) symlinkSync(join(root, modules, name), join(folder, modules, name));
}

/** Makes the project in `folder` use the packages of the repository at `from`, as an installation of another version would. */
export function install(folder: string, from: string): void {
	rmSync(join(folder, "node_modules"), { force: true });
	symlinkSync(join(from, "node_modules"), join(folder, "node_modules"));
}
