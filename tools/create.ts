// `npm run create -- FOLDER --template NAME`: makes a project that uses the packages of this clone, until they are published.
// Builds and packs what the template depends on, puts the archives into the project, and installs it. The project
// does not refer to the clone.
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, delimiter, dirname, join, relative, resolve, sep } from "node:path";
import { parseArgs } from "node:util";
import { type Template, templates, writeTemplate } from "create-holdfast";
import { listFiles } from "./list-sources.ts";
import { changeManifest, dependOnArchives, packPackages } from "./pack.ts";
import { runCommand } from "./run-command.ts";
import { outputOf, readWorkspaces, type Workspace, withDependencies } from "./workspaces.ts";

const root = join(import.meta.dirname, "..");
/** The folder of the archives in a project. */
const archivesFolder = "holdfast-packages";
/** The oldest Node that runs a project, as its package.json says. */
const oldestNode = [22, 18];

/** Aborts when the user presses Ctrl-C: running programs are ended, and unfinished folders removed. */
const interrupt = new AbortController();
const { signal } = interrupt;
for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, () => interrupt.abort());

/** A failure that is reported by its message alone, without a stack. */
class CreateError extends Error {}

interface Request {
	/** What the user typed; `folder` is its absolute path. */
	readonly name: string;
	readonly folder: string;
	readonly template: Template;
}

function readRequest(argv: readonly string[], from: string): Request {
	const names = templates.map(({ name }) => name).join(", ");
	const usage = `Type: npm run create -- ../my-agent --template script\nTemplates: ${names}.`;
	let parsed: { values: { template?: string }; positionals: string[] };
	try {
		const options = { template: { type: "string", short: "t", default: "script" } } as const;
		parsed = parseArgs({ args: [...argv], allowPositionals: true, options });
	} catch (error) {
		throw new CreateError(`${(error as Error).message.split(". ")[0]}.\n${usage}`);
	}
	const { values, positionals } = parsed;
	const [name = "", ...others] = positionals;
	if (name.trim() === "" || others.length > 0) throw new CreateError(`Name one folder.\n${usage}`);
	const template = templates.find((each) => each.name === values.template);
	if (template === undefined)
		throw new CreateError(`There is no template "${values.template}". Use one of: ${names}.`);
	const folder = resolve(from, name);
	if (`${folder}${sep}`.startsWith(`${root}${sep}`)) {
		const other = join(root, "..", folder === root ? "my-agent" : basename(folder));
		throw new CreateError(
			`${name} is inside the clone. Name a folder next to it: npm run create -- ${relative(from, other)}`,
		);
	}
	return { name, folder, template };
}

/** Prints the name of a step and how long it took. */
async function step<Result>(what: string, work: () => Promise<Result>): Promise<Result> {
	const started = performance.now();
	process.stdout.write(`${what} … `);
	try {
		const result = await work();
		console.log(`${((performance.now() - started) / 1000).toFixed(1)} s`);
		return result;
	} catch (error) {
		console.log("failed");
		throw error;
	}
}

/** Whether a source is newer than its package's build. Removing a source changes the time of its folder. */
function isStale({ folder, entries }: Workspace): boolean {
	const place = join(root, "packages", folder);
	const built = join(place, "dist", `${outputOf(entries[0]?.source ?? "src/main.ts")}.js`);
	// The record of the compiler is removed at the end of a build.
	if (!existsSync(built) || existsSync(join(place, "dist/.tsbuildinfo"))) return true;
	const builtAt = statSync(built).mtimeMs;
	const sources = listFiles(join(place, "src"), "").flatMap((file) => [file, dirname(file)]);
	return ["package.json", ...new Set(sources.map((file) => join("src", file)))].some(
		(file) => statSync(join(place, file)).mtimeMs > builtAt,
	);
}

async function build(workspaces: readonly Workspace[]): Promise<void> {
	const folders = workspaces.map(({ folder }) => folder);
	const command = [process.execPath, join(root, "tools/build.ts"), ...folders] as const;
	const { code, output } = await runCommand(command, { folder: root, signal });
	if (code !== 0) throw new CreateError(`The packages do not compile:\n${output}`);
}

/** The version of the Node that runs outside this repository's npm scripts; undefined without one. */
async function nodeOfUser(): Promise<string | undefined> {
	const path = (process.env.PATH ?? "").split(delimiter).filter((each) => !each.includes("node_modules"));
	const { code, stdout } = await runCommand(["node", "--version"], {
		folder: "/",
		environment: { PATH: path.join(delimiter) },
	});
	return code === 0 ? stdout.trim().replace(/^v/, "") : undefined;
}

function isTooOld(version: string): boolean {
	const [major = 0, minor = 0] = version.split(".").map(Number);
	return major < (oldestNode[0] ?? 0) || (major === oldestNode[0] && minor < (oldestNode[1] ?? 0));
}

/** Gives the project a Node of its own, as this repository has, because the system's cannot run it. npm scripts find it. */
function bringNode(folder: string): void {
	const { devDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
	changeManifest(folder, (manifest) => {
		manifest.devDependencies = { ...manifest.devDependencies, node: devDependencies.node };
		manifest.allowScripts = { ...manifest.allowScripts, node: true };
	});
}

/** Copies the archives into the container image too, because it installs from them. */
function copyIntoImage(folder: string): void {
	const file = join(folder, "Dockerfile");
	if (!existsSync(file)) return;
	const line = "COPY package*.json ./\n";
	const text = readFileSync(file, "utf8");
	writeFileSync(file, text.replace(line, `${line}COPY ${archivesFolder} ${archivesFolder}\n`));
}

async function install(folder: string, shown: string): Promise<void> {
	const { code, output } = await runCommand(
		["npm", "install", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"],
		{ folder, environment: { npm_config_local_prefix: undefined }, signal },
	);
	if (code === 0) return;
	if (signal.aborted)
		throw new CreateError(
			`Cancelled. Only the installation is missing; to continue: cd ${shown} && npm install`,
		);
	const [offline] =
		/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|ETIMEDOUT|ERR_SOCKET_TIMEOUT|ENOTCACHED/.exec(
			output,
		) ?? [];
	throw new CreateError(
		offline === undefined
			? `npm install failed:\n${output}`
			: `npm cannot reach its registry (${offline}), so the project's other packages are not installed.
Otherwise the project is complete. When you are online again: cd ${shown} && npm install`,
	);
}

function cancelled(shown: string): string {
	return `Cancelled. Nothing was left in ${shown}.`;
}

async function create({ name: shown, folder, template }: Request): Promise<void> {
	const started = performance.now();
	const isNew = !existsSync(folder);
	const { written, inTheWay } = await writeTemplate({ template: template.name, folder, signal }).catch(
		(error: Error) => {
			if (signal.aborted) throw new CreateError(cancelled(shown));
			throw new CreateError(`${shown} could not be created, and nothing was written: ${error.message}`);
		},
	);
	if (inTheWay.length > 0)
		throw new CreateError(`${shown} exists and is not empty, so nothing was written. Name a new folder.`);
	console.log(`Made ${written.length} files of the template "${template.name}" in ${shown}.`);
	const { dependencies, devDependencies } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
	const workspaces = readWorkspaces(root);
	const needed = withDependencies(workspaces, Object.keys({ ...dependencies, ...devDependencies }));
	try {
		if (needed.some(isStale)) await step(`Building ${needed.length} packages`, () => build(needed));
		const archives = await step("Packing", () =>
			packPackages(root, needed, join(folder, archivesFolder), signal),
		);
		dependOnArchives(
			folder,
			new Map([...archives].map(([name, file]) => [name, `./${archivesFolder}/${basename(file)}`])),
		);
		copyIntoImage(folder);
		signal.throwIfAborted();
	} catch (error) {
		for (const file of isNew ? [""] : [...written, archivesFolder])
			rmSync(join(folder, file), { recursive: true, force: true });
		throw signal.aborted ? new CreateError(cancelled(shown)) : error;
	}
	const version = await nodeOfUser();
	const needsNode = version === undefined || isTooOld(version);
	if (needsNode) bringNode(folder);
	await step("Installing", () => install(folder, shown));
	console.log(`Done in ${((performance.now() - started) / 1000).toFixed(0)} s. Next:\n\n  cd ${shown}`);
	for (const { script, what } of template.scripts) {
		const command = script === "start" || script === "test" ? `npm ${script}` : `npm run ${script}`;
		console.log(`  ${command.padEnd(14)}${what}`);
	}
	console.log("\nIt runs without a key: a few rules replace the model.", template.realModel);
	if (needsNode)
		console.log(
			`Your Node ${version === undefined ? "was not found" : `is ${version}`}, and a project needs ${oldestNode.join(".")} or newer. So the project brings one that its npm scripts use.`,
		);
}

// npm starts scripts in the folder of the package.json, but a path is relative to where the user typed it.
const from = process.env.INIT_CWD ?? process.cwd();
try {
	await create(readRequest(process.argv.slice(2), from));
} catch (error) {
	if (!(error instanceof CreateError)) throw error;
	console.error(error.message);
	process.exitCode = signal.aborted ? 130 : 1;
}
