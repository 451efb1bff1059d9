// `npm run release -- VERSION`: makes a release of all packages under one version, and tries it without publishing.
// With `--publish` it commits the version, publishes the packages in the order of their dependencies, and tags the commit.
// Run it again after a failure: it skips what the registry already has.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { listFiles } from "./list-sources.ts";
import { packPackages } from "./pack.ts";
import { runCommand } from "./run-command.ts";
import { setVersion } from "./set-version.ts";
import { readWorkspaces, type Workspace } from "./workspaces.ts";

const root = join(import.meta.dirname, "..");
/** Checks how TypeScript resolves the types; it brings a TypeScript of its own, so it is no dependency. */
const typesChecker = "@arethetypeswrong/cli@0.18.5";

/** A failure whose message is all that its reader needs. */
class ReleaseError extends Error {}

type Command = readonly [program: string, ...parameters: string[]];

async function must(command: Command, folder = root): Promise<string> {
	const { code, output } = await runCommand(command, { folder });
	if (code !== 0) throw new ReleaseError(`\`${command.join(" ")}\` failed:\n${output}`);
	return output.trim();
}

async function step<Result>(what: string, work: () => Promise<Result>): Promise<Result> {
	const started = performance.now();
	console.log(`${what} …`);
	const result = await work();
	console.log(`${what}: ok, ${((performance.now() - started) / 1000).toFixed(0)} s`);
	return result;
}

/** Dependencies first, so that what is published can be installed at any moment. */
function inOrder(workspaces: readonly Workspace[]): readonly Workspace[] {
	const ordered = new Set<Workspace>();
	const add = (workspace: Workspace): void => {
		if (ordered.has(workspace)) return;
		for (const each of workspaces) if (workspace.dependencies.includes(each.name)) add(each);
		ordered.add(workspace);
	};
	for (const workspace of workspaces) add(workspace);
	return [...ordered];
}

async function checkTypes(archives: ReadonlyMap<string, string>, folder: string): Promise<void> {
	const tool = join(folder, "types-checker");
	await must(["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", tool, typesChecker]);
	for (const [name, archive] of archives) {
		// A package without entries has no types to resolve.
		const { entries } = readWorkspaces(root).find((each) => each.name === name) as Workspace;
		if (entries.length === 0) continue;
		await must([join(tool, "node_modules/.bin/attw"), archive, "--profile", "esm-only", "--format", "ascii"]);
	}
}

/** In CI of GitHub or GitLab, npm signs where and of what a package was built. */
function provenance(): readonly string[] {
	const { ACTIONS_ID_TOKEN_REQUEST_URL, SIGSTORE_ID_TOKEN } = process.env;
	return ACTIONS_ID_TOKEN_REQUEST_URL || SIGSTORE_ID_TOKEN ? ["--provenance"] : [];
}

async function publish(archives: ReadonlyMap<string, string>, version: string, tag: string): Promise<void> {
	for (const { name } of inOrder(readWorkspaces(root))) {
		const known = await runCommand(["npm", "view", `${name}@${version}`, "version"], { folder: root });
		if (known.code === 0 && known.stdout.trim() === version) console.log(`${name}: published before`);
		else {
			const archive = archives.get(name) as string;
			await must(["npm", "publish", archive, "--access", "public", "--tag", tag, ...provenance()]);
			console.log(`${name}: published`);
		}
	}
}

async function release(version: string, isPublished: boolean): Promise<void> {
	if (!/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version))
		throw new ReleaseError(
			"Give a version: npm run release -- 0.2.0, or npm run release -- 0.2.0 --publish.",
		);
	const changed = await must(["git", "status", "--porcelain"]);
	if (changed !== "")
		throw new ReleaseError(`The tree has changes. Commit or remove them first:\n${changed}`);
	const before = setVersion(root, version, new Date());
	const folder = mkdtempSync(join(tmpdir(), "holdfast-release-"));
	try {
		await step("Build", () => must([process.execPath, "tools/build.ts"]));
		await step("Packages as installed, with publint", () =>
			must([process.execPath, "tools/check-packages.ts"]),
		);
		const archives = await step("Pack", () =>
			packPackages(root, readWorkspaces(root), join(folder, "archives")),
		);
		await step("Resolution of types", () => checkTypes(archives, folder));
		if (!isPublished) {
			console.log(`Nothing was published, and the files are as before. To publish ${archives.size} packages:
  npm run release -- ${version} --publish`);
			return;
		}
		if ((await must(["git", "status", "--porcelain"])) !== "")
			await must(["git", "commit", "--quiet", "--all", "--message", `Release ${version}`]);
		// From here on the files keep the version.
		before.clear();
		await publish(archives, version, version.includes("-") ? "next" : "latest");
		await must(["git", "tag", "--force", `v${version}`]);
		console.log(
			`Published ${version}. Next: git push --follow-tags, or git push and git push origin v${version}.`,
		);
		remindOfPages();
	} finally {
		for (const [file, text] of before) writeFileSync(file, text);
		rmSync(folder, { recursive: true, force: true });
	}
}

/** Lists the lines that are wrong once a version is published. */
function remindOfPages(): void {
	const lines = listFiles(root, ".md").flatMap((file) =>
		readFileSync(join(root, file), "utf8")
			.split("\n")
			.flatMap((line, at) =>
				/nothing is published|is unreleased|, unreleased|until publication/i.test(line)
					? [`  ${file}:${at + 1}`]
					: [],
			),
	);
	if (lines.length > 0) console.log(`These lines say that nothing is published:\n${lines.join("\n")}`);
}

try {
	const options = { publish: { type: "boolean", default: false } } as const;
	const { values, positionals } = parseArgs({ allowPositionals: true, options });
	await release(positionals.length === 1 ? (positionals[0] as string) : "", values.publish);
} catch (error) {
	if (!(error instanceof ReleaseError) && !(error as Error).message.startsWith("Unknown option")) throw error;
	console.error((error as Error).message);
	process.exitCode = 1;
}
