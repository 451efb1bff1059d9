// What a release writes, and what it refuses before it builds anything.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { listFiles } from "../tools/list-sources.ts";
import { runCommand } from "../tools/run-command.ts";
import { setVersion } from "../tools/set-version.ts";
import { readWorkspaces } from "../tools/workspaces.ts";
import { temporaryFolder } from "./shared/temporary-folder.fixture.ts";

const root = join(import.meta.dirname, "..");

/** A repository that has only the files with versions. */
function copyManifests(): string {
	const copy = temporaryFolder();
	const manifests = listFiles(join(root, "packages"), "package.json").map((file) => `packages/${file}`);
	for (const file of ["package.json", "package-lock.json", ...manifests]) {
		mkdirSync(dirname(join(copy, file)), { recursive: true });
		cpSync(join(root, file), join(copy, file));
	}
	writeFileSync(join(copy, "CHANGELOG.md"), "# Changelog\n\n## 0.1.0 (unreleased)\n\n- A lever.\n");
	return copy;
}

test("a version is written to every package, to their dependencies on each other, to templates, lock file and changelog", () => {
	const copy = copyManifests();
	const before = setVersion(copy, "7.1.0", new Date("2026-12-01T10:00:00Z"));
	const read = (file: string): string => readFileSync(join(copy, file), "utf8");
	const names = readWorkspaces(copy).map(({ name }) => name);
	for (const { folder } of readWorkspaces(copy)) {
		const {
			version,
			dependencies = {},
			peerDependencies = {},
		} = JSON.parse(read(`packages/${folder}/package.json`));
		expect(version).toBe("7.1.0");
		for (const [name, range] of Object.entries({ ...dependencies, ...peerDependencies }))
			if (names.includes(name)) expect([name, range]).toEqual([name, "7.1.0"]);
	}
	const template = JSON.parse(read("packages/create-holdfast/templates/script/package.json"));
	expect([template.version, template.dependencies.holdfast]).toEqual(["0.1.0", "^7.1.0"]);
	const { packages } = JSON.parse(read("package-lock.json"));
	expect(packages[""].devDependencies["@holdfast/stores"]).toBe("7.1.0");
	expect([packages["packages/cli"].version, packages["packages/cli"].dependencies.holdfast]).toEqual([
		"7.1.0",
		"7.1.0",
	]);
	expect(read("CHANGELOG.md")).toContain("## 7.1.0 (2026-12-01)\n");
	// Nothing else changed: with the earlier version it is the earlier text.
	for (const [file, text] of before)
		if (file.endsWith("package.json"))
			expect(readFileSync(file, "utf8").replaceAll("7.1.0", "0.1.0")).toBe(text);
	// The same release again changes nothing.
	expect([...setVersion(copy, "7.1.0", new Date("2026-12-02T10:00:00Z")).keys()]).toEqual([]);
});

test("the repository that the root states is written to every package, with the package's folder", () => {
	const copy = copyManifests();
	const manifest = JSON.parse(readFileSync(join(copy, "package.json"), "utf8"));
	const repository = { type: "git", url: "git+https://git.example/holdfast.git" };
	writeFileSync(join(copy, "package.json"), JSON.stringify({ ...manifest, repository }, undefined, 2));
	setVersion(copy, "7.1.0", new Date());
	for (const { folder } of readWorkspaces(copy)) {
		const stated = JSON.parse(readFileSync(join(copy, "packages", folder, "package.json"), "utf8"));
		expect(stated.repository).toEqual({ ...repository, directory: `packages/${folder}` });
	}
});

test.each([
	[{}, "npm signs provenance only in CI: on GitHub with the permission `id-token: write`"],
	[
		{ SIGSTORE_ID_TOKEN: "token" },
		'npm signs provenance only for packages that state their repository. Add "repository": {',
	],
])(
	"--provenance is refused before anything is built, with the environment %j",
	async (environment, message) => {
		const { copy, git } = await repositoryThatBuilds();
		const command = [process.execPath, join(copy, "tools/release.ts"), "7.1.0", "--provenance"] as const;
		const none = { ACTIONS_ID_TOKEN_REQUEST_URL: undefined, SIGSTORE_ID_TOKEN: undefined };
		expect(
			await runCommand(command, { folder: copy, environment: { ...none, ...environment } }),
		).toMatchObject({
			code: 1,
			output: expect.stringContaining(message),
		});
		expect(await git("status", "--porcelain")).toBe("");
	},
);

test("a release without entries in the changelog is refused", () => {
	const copy = copyManifests();
	writeFileSync(join(copy, "CHANGELOG.md"), "# Changelog\n");
	const before = readFileSync(join(copy, "package-lock.json"), "utf8");
	expect(() => setVersion(copy, "7.1.0", new Date())).toThrow("no heading with (unreleased)");
	expect(readFileSync(join(copy, "package-lock.json"), "utf8")).toBe(before);
});

/** A repository with one commit, whose build ends only with the process that started it. */
async function repositoryThatBuilds(): Promise<{
	copy: string;
	git: (...argv: string[]) => Promise<string>;
}> {
	const copy = copyManifests();
	const git = async (...argv: string[]): Promise<string> =>
		(
			await runCommand(["git", "-c", "user.name=t", "-c", "user.email=t@localhost", ...argv], {
				folder: copy,
			})
		).output;
	cpSync(join(root, "tools"), join(copy, "tools"), { recursive: true });
	// Without a reader of its output, it fails and ends.
	writeFileSync(join(copy, "tools/build.ts"), 'setInterval(() => console.log("Building"), 20);\n');
	await git("init", "--quiet");
	await git("add", "--all");
	await git("commit", "--quiet", "--message", "All");
	return { copy, git };
}

test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
	"a trial that %s interrupts leaves the files as before",
	async (signal) => {
		const { copy, git } = await repositoryThatBuilds();
		const temporary = temporaryFolder();
		const child = spawn(process.execPath, [join(copy, "tools/release.ts"), "7.1.0"], {
			cwd: copy,
			env: { ...process.env, TMPDIR: temporary, NODE_OPTIONS: undefined },
		});
		const ended = once(child, "close");
		await once(child.stdout, "data");
		expect(await git("status", "--porcelain")).toContain(" M package-lock.json");
		child.kill(signal);
		expect((await ended)[0]).toBeGreaterThan(128);
		expect(await git("status", "--porcelain")).toBe("");
		expect(readdirSync(temporary)).toEqual([]);
	},
);

test("a version whose tag is on another commit is rejected", async () => {
	const { copy, git } = await repositoryThatBuilds();
	await git("tag", "v7.1.0");
	await git("commit", "--quiet", "--allow-empty", "--message", "More");
	const command = [process.execPath, join(copy, "tools/release.ts"), "7.1.0", "--publish"] as const;
	expect(await runCommand(command, { folder: copy })).toMatchObject({
		code: 1,
		output: "The tag v7.1.0 is on another commit. Give a new version.\n",
	});
	expect(await git("status", "--porcelain")).toBe("");
});

test.each([
	[[]],
	[["new"]],
	[["1.2"]],
	[["1.2.3", "1.2.4"]],
	[["1.2.3", "--dry"]],
	[["1.2.3", "--publish=no"]],
])("npm run release %j is rejected", async (argv) => {
	const command = [
		process.execPath,
		"--conditions=holdfast-source",
		join(root, "tools/release.ts"),
		...argv,
	] as const;
	const { code, output } = await runCommand(command, { folder: root });
	expect([code, output]).toEqual([
		1,
		expect.stringMatching(
			/npm run release -- 0\.2\.0|Unknown option '--dry'|'--publish' does not take an argument/,
		),
	]);
});
