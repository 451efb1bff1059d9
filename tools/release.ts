// `npm run release -- VERSION`: makes a release of all packages under one version, and tries it without publishing.
// With `--publish` it commits the version, publishes the packages in the order of their dependencies, and tags the commit.
// Run it again after a failure: it skips what the registry already has.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { listFiles } from "./list-sources.ts";
import { packPackages } from "./pack.ts";
import { runCommand } from "./run-command.ts";
import { setVersion } from "./set-version.ts";
import { readWorkspaces, type Workspace } from "./workspaces.ts";

const root = join(import.meta.dirname, "..");
/** Checks how TypeScript resolves the types. It is not a dependency, because it installs another TypeScript. */
const typesChecker = "@arethetypeswrong/cli@0.18.5";

/** A failure that is reported by its message alone, without a stack. */
class ReleaseError extends Error {}

/** What the command was asked for besides a version. `provenance` is undefined if neither was said. */
interface Flags {
	readonly publish: boolean;
	readonly provenance?: boolean | undefined;
}

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

/** Returns dependencies first, so that every published package can be installed at any time. */
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

/**
 * Whether npm signs a statement of where and from which sources the packages were built.
 *
 * @throws ReleaseError if it was asked to, and cannot.
 */
function isSigned(asked: boolean): boolean {
	if (!asked) return false;
	if (!canSign())
		throw new ReleaseError(
			"npm signs provenance only in CI: on GitHub with the permission `id-token: write`, on GitLab with the token `SIGSTORE_ID_TOKEN`. Publish there, or with --no-provenance.",
		);
	if (JSON.parse(readFileSync(join(root, "package.json"), "utf8")).repository === undefined)
		throw new ReleaseError(
			'npm signs provenance only for packages that state their repository. Add "repository": { "type": "git", "url": "git+https://…" } to package.json, from where a release copies it to every package. Or publish with --no-provenance.',
		);
	return true;
}

/** Whether this is the CI of GitHub or GitLab with a token to sign with. */
function canSign(): boolean {
	const { ACTIONS_ID_TOKEN_REQUEST_URL, SIGSTORE_ID_TOKEN } = process.env;
	return Boolean(ACTIONS_ID_TOKEN_REQUEST_URL || SIGSTORE_ID_TOKEN);
}

/** Publishes the packages that the registry does not have yet. `flags` are passed on to `npm publish`. */
async function publish(
	archives: ReadonlyMap<string, string>,
	version: string,
	flags: readonly string[],
): Promise<void> {
	for (const { name } of inOrder(readWorkspaces(root))) {
		const known = await runCommand(["npm", "view", `${name}@${version}`, "version"], { folder: root });
		if (known.code === 0 && known.stdout.trim() === version) console.log(`${name}: already published`);
		else {
			const archive = archives.get(name) as string;
			await must(["npm", "publish", archive, "--access", "public", ...flags]);
			console.log(`${name}: published`);
		}
	}
}

async function release(version: string, { publish: isPublished, provenance }: Flags): Promise<void> {
	if (!/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version))
		throw new ReleaseError(
			"Give a version: npm run release -- 0.2.0, or npm run release -- 0.2.0 --publish.",
		);
	const signature = isSigned(provenance ?? (isPublished && canSign())) ? ["--provenance"] : [];
	const changed = await must(["git", "status", "--porcelain"]);
	if (changed !== "")
		throw new ReleaseError(`The tree has changes. Commit or remove them first:\n${changed}`);
	const tagged = await runCommand(["git", "rev-parse", "--verify", "--quiet", `v${version}^{commit}`], {
		folder: root,
	});
	if (tagged.code === 0 && tagged.stdout.trim() !== (await must(["git", "rev-parse", "HEAD"])))
		throw new ReleaseError(`The tag v${version} is on another commit. Give a new version.`);
	const folder = mkdtempSync(join(tmpdir(), "holdfast-release-"));
	let before: ReadonlyMap<string, string> = new Map();
	const restore = (): void => {
		for (const [file, text] of before) writeFileSync(file, text);
		rmSync(folder, { recursive: true, force: true });
	};
	// A signal would end the process without the block `finally`.
	for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
		process.once(signal, () => {
			restore();
			process.exit(128 + constants.signals[signal]);
		});
	try {
		before = setVersion(root, version, new Date());
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
		before = new Map();
		await publish(archives, version, ["--tag", version.includes("-") ? "next" : "latest", ...signature]);
		await must(["git", "tag", "--force", `v${version}`]);
		console.log(`Published ${version}. Next: git push origin HEAD v${version}`);
		remindOfPages();
	} finally {
		restore();
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
	if (lines.length > 0)
		console.log(`These lines are outdated: they state that nothing is published:\n${lines.join("\n")}`);
}

try {
	const options = {
		publish: { type: "boolean", default: false },
		provenance: { type: "boolean" },
	} as const;
	const { values, positionals } = parseArgs({ allowPositionals: true, allowNegative: true, options });
	await release(positionals.length === 1 ? (positionals[0] as string) : "", values);
} catch (error) {
	const { code, message } = error as NodeJS.ErrnoException;
	if (!(error instanceof ReleaseError) && code?.startsWith("ERR_PARSE_ARGS") !== true) throw error;
	console.error(message);
	process.exitCode = 1;
}
