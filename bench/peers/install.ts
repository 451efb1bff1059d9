// Installs the peers on demand, each into a separate folder in a cache outside the repository, so that they share no
// dependencies with Holdfast or with each other.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { runCommand } from "../../tools/run-command.ts";

const here = import.meta.dirname;
const cache = process.env.HOLDFAST_PEERS ?? join(homedir(), ".cache/holdfast-peers");

/** Returns the folder with these packages, installing them if it does not exist. Throws with npm's output. */
export async function installed(name: string, packages: readonly string[]): Promise<string> {
	const folder = join(cache, name);
	const stamp = join(folder, "installed.json");
	const wanted = JSON.stringify({ packages, node: process.version });
	if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== wanted) {
		console.log(`Installing ${packages.join(" ")} …`);
		rmSync(folder, { recursive: true, force: true });
		mkdirSync(folder, { recursive: true });
		writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }\n');
		const { code, output } = await runCommand(
			["npm", "install", "--save-exact", "--no-audit", "--no-fund", ...packages],
			{ folder, environment: buildEnvironment() },
		);
		if (code !== 0) throw new Error(`${packages.join(" ")} cannot be installed:\n${output}`);
		writeFileSync(stamp, wanted);
	}
	layOut(folder);
	return folder;
}

/** Copies the harness and the subjects next to the installed packages, where their imports resolve. */
export function layOut(folder: string): void {
	cpSync(join(here, "harness.js"), join(folder, "harness.js"));
	cpSync(join(here, "subjects"), folder, { recursive: true });
}

/** Native modules are built for the measuring Node, with its own headers if it includes them. */
function buildEnvironment(): Record<string, string> {
	const path = `${dirname(process.execPath)}${delimiter}${process.env.PATH ?? ""}`;
	const parts = join(dirname(process.execPath), "../node_modules");
	const own = existsSync(parts)
		? readdirSync(parts).find((name) => existsSync(join(parts, name, "include")))
		: undefined;
	return own === undefined ? { PATH: path } : { PATH: path, npm_config_nodedir: join(parts, own) };
}
