// A project made of a template as a user makes it: by the packed create-holdfast, with packed packages.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { dependOnArchives, packPackages } from "../../tools/pack.ts";
import { runCommand } from "../../tools/run-command.ts";
import { readWorkspaces } from "../../tools/workspaces.ts";

const root = join(import.meta.dirname, "../..");
const running = new Set<ChildProcess>();
/** The Node of the repository first, whatever the system has. */
const environment = {
	PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
	NEXT_TELEMETRY_DISABLED: "1",
	WRANGLER_SEND_METRICS: "false",
	OPENAI_API_KEY: undefined,
	NODE_OPTIONS: undefined,
	NODE_ENV: undefined,
	VITEST: undefined,
};

/** The packed packages, and where create-holdfast is installed from them. */
export interface Packed {
	readonly folder: string;
	readonly archives: ReadonlyMap<string, string>;
}

/** Packs all packages and installs create-holdfast alone. */
export async function packAll(): Promise<Packed> {
	const folder = mkdtempSync(join(process.env.HOLDFAST_DISK ?? tmpdir(), "holdfast-templates-"));
	const workspaces = readWorkspaces(root);
	const unbuilt = workspaces.filter((each) => !existsSync(join(root, "packages", each.folder, "dist")));
	if (unbuilt.length > 0) throw new Error(`Run npm run build first: ${unbuilt[0]?.name} has no dist.`);
	const archives = await packPackages(root, workspaces, join(folder, "archives"));
	const creator = join(folder, "creator");
	mkdirSync(creator);
	writeFileSync(join(creator, "package.json"), JSON.stringify({ private: true }));
	await must(["npm", "install", ...quiet, archives.get("create-holdfast") ?? ""], creator);
	return { folder, archives };
}

const quiet = ["--no-audit", "--no-fund", "--silent", "--prefer-offline"] as const;

/** Makes a project of a template, and installs what it depends on: ours from the archives, the rest from the registry. */
export async function makeProject({ folder, archives }: Packed, template: string): Promise<string> {
	const bin = join(folder, "creator/node_modules/.bin/create-holdfast");
	await must([bin, `my-${template}`, "--template", template], folder);
	const project = join(folder, `my-${template}`);
	dependOnArchives(project, archives);
	await must(["npm", "install", ...quiet], project);
	return project;
}

/** Runs a program to its end; gives what it said, and throws when it fails. */
export async function must(command: readonly [string, ...string[]], folder: string): Promise<string> {
	const { code, output } = await runCommand(command, { folder, environment });
	if (code !== 0) throw new Error(`\`${command.join(" ")}\` ended with ${code}:\n${output}`);
	return output;
}

/** Starts a server; gives its address once it says one. */
export function serve(
	command: readonly [string, ...string[]],
	folder: string,
	more: Record<string, string> = {},
): Promise<string> {
	const [program, ...parameters] = command;
	const env = { ...process.env, ...environment, NO_COLOR: "1", ...more };
	const child = spawn(program, parameters, { cwd: folder, env, detached: true });
	running.add(child);
	return new Promise((resolve, reject) => {
		let output = "";
		for (const stream of [child.stdout, child.stderr]) {
			stream.setEncoding("utf8").on("data", (text: string) => {
				output += text;
				const url = /https?:\/\/(?:127\.0\.0\.1|localhost):[1-9]\d*/.exec(output)?.[0];
				if (url !== undefined) resolve(url);
			});
		}
		child.once("error", reject);
		child.once("close", (code) => reject(new Error(`${program} ended with ${code}:\n${output}`)));
	});
}

/** Ends the servers that were started, with what they have started. */
export async function endServers(): Promise<void> {
	await Promise.all(
		[...running].map(async (child) => {
			running.delete(child);
			if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
			const closed = new Promise((resolve) => child.once("close", resolve));
			process.kill(-child.pid, "SIGKILL");
			await closed;
		}),
	);
}
