// A release, from one command to a project of each template: published to a real registry on this machine, and installed
// from it with npm and with other package managers.
import {
	cpSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { templates } from "create-holdfast";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCommand } from "../../tools/run-command.ts";
import { readWorkspaces } from "../../tools/workspaces.ts";
import { type Registry, startRegistry } from "./registry.fixture.ts";

const root = join(import.meta.dirname, "../..");
let folder: string;
let clone: string;
let registry: Registry;

const must: Registry["must"] = (command, place) => registry.must(command, place);

/** A copy of the repository with one commit, which shares the installed packages. */
async function cloneRepository(): Promise<void> {
	const { stdout } = await runCommand(["git", "ls-files", "-co", "--exclude-standard"], { folder: root });
	for (const file of stdout.split("\n"))
		if (file !== "" && existsSync(join(root, file))) cpSync(join(root, file), join(clone, file));
	const own = new Map(
		readWorkspaces(root).map(({ name, folder }) => [name, join(clone, "packages", folder)]),
	);
	const link = (names: readonly string[], place: string): void => {
		mkdirSync(join(clone, place), { recursive: true });
		for (const name of names) symlinkSync(join(root, place, name), join(clone, place, name));
	};
	const installed = readdirSync(join(root, "node_modules"));
	link(
		installed.filter((name) => !own.has(name) && name !== "@holdfast"),
		"node_modules",
	);
	mkdirSync(join(clone, "node_modules/@holdfast"));
	for (const [name, place] of own) symlinkSync(place, join(clone, "node_modules", name));
	for (const each of readdirSync(join(root, "packages")))
		if (existsSync(join(root, "packages", each, "node_modules")))
			symlinkSync(
				join(root, "packages", each, "node_modules"),
				join(clone, "packages", each, "node_modules"),
			);
	for (const command of [
		["init", "--quiet"],
		["add", "--all"],
		["-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "--quiet", "--message", "All"],
		["config", "user.name", "t"],
		["config", "user.email", "t@localhost"],
	])
		await must(["git", ...command], clone);
}

beforeAll(async () => {
	folder = mkdtempSync(join(process.env.HOLDFAST_DISK ?? tmpdir(), "holdfast-release-"));
	clone = join(folder, "clone");
	registry = await startRegistry(folder);
	await cloneRepository();
});
afterAll(async () => {
	await registry?.close();
	// Hundreds of megabytes: by a program of its own, while others work.
	await runCommand(["rm", "-rf", folder], { folder: "/" });
});

/** Each release builds, installs and checks all packages, on machines that are busy with other things. */
const releaseTimeout = 2_400_000;

test("a release is tried before it is published, and rejects a changed tree", {
	timeout: releaseTimeout,
}, async () => {
	const tried = await must(["npm", "run", "release", "--", "7.1.0"], clone);
	expect(tried).toContain("Nothing was published, and the files are as before.");
	expect(await must(["git", "status", "--porcelain"], clone)).toBe("");

	cpSync(join(clone, "README.md"), join(clone, "notes.md"));
	await expect(must(["npm", "run", "release", "--", "7.1.0"], clone)).rejects.toThrow(
		"The tree has changes.",
	);
	rmSync(join(clone, "notes.md"));

	const published = await must(["npm", "run", "release", "--", "7.1.0", "--publish"], clone);
	expect(published).toContain("create-holdfast: published");
	expect(await must(["git", "tag"], clone)).toBe("v7.1.0\n");
	expect(readFileSync(join(clone, "CHANGELOG.md"), "utf8")).toMatch(/^## 7\.1\.0 \(\d{4}-\d\d-\d\d\)$/m);
	const lock = JSON.parse(readFileSync(join(clone, "package-lock.json"), "utf8"));
	expect(lock.packages["packages/cli"].dependencies.holdfast).toBe("7.1.0");
});

test.each(templates.map(({ name }) => name))(
	"npm create holdfast@latest installs and runs %s",
	async (name) => {
		await must(
			["npm", "create", "--yes", "holdfast@latest", `npm-${name}`, "--", "--template", name],
			folder,
		);
		const project = join(folder, `npm-${name}`);
		await must(["npm", "install", "--no-audit", "--no-fund", "--silent"], project);
		const { version } = JSON.parse(readFileSync(join(project, "node_modules/holdfast/package.json"), "utf8"));
		expect(version).toBe("7.1.0");
		await must(["npm", "run", "check"], project);
		if (name === "next-chat") await must(["npm", "run", "build"], project);
		else expect(await must(["npm", "test"], project)).toMatch(/fail 0/);
		rmSync(project, { recursive: true, force: true });
	},
);

/** Other package managers: installed from npm in an exact version, and how each is asked. */
const others = [
	{ name: "pnpm", install: "pnpm@10.20.0", create: ["create", "holdfast@latest"], run: ["run"] },
	{
		name: "yarn",
		install: "yarn@1.22.22",
		create: ["--global-folder", "yarn", "create", "holdfast"],
		run: ["run", "--silent"],
	},
	{ name: "bun", install: "bun@1.4.5", create: ["create", "holdfast@latest"], run: ["run"] },
] as const;

test.each(others)("$name creates, installs and runs a project of the template script", async (manager) => {
	const { name, install, create, run } = manager;
	const tool = join(folder, `tool-${name}`);
	mkdirSync(tool);
	await must(["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", tool, install], folder);
	const program = join(tool, "node_modules/.bin", name);
	await must([program, ...create, `${name}-script`, "--template", "script"], folder);
	const project = join(folder, `${name}-script`);
	await must([program, "install"], project);
	expect(await must([program, ...run, "start", "What is 20 + 22?"], project)).toContain("That makes 42.");
});
