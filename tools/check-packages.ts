// Checks the packages as a user gets them: publint reads each manifest, then all are packed, installed into an
// empty folder, and every entry is imported by plain Node, every command started, every type file compiled, and what can be
// read of them in a debugger and what they weigh looked at. Pages that state the weight must state this one.
// Works on what `npm run build` left in dist.
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { listFiles } from "./list-sources.ts";
import { packPackages } from "./pack.ts";
import { runCommand } from "./run-command.ts";
import { readWorkspaces, type Workspace } from "./workspaces.ts";

const root = join(import.meta.dirname, "..");

async function lint(workspace: Workspace): Promise<readonly string[]> {
	const { messages, pkg } = await publint({
		pkgDir: join(root, "packages", workspace.folder),
		level: "warning",
		strict: true,
		pack: "npm",
	});
	return messages.map((message) => `${workspace.name}: ${formatMessage(message, pkg)}`);
}

/** Packs and installs all packages into `folder`; gives what went wrong. */
async function install(workspaces: readonly Workspace[], folder: string): Promise<readonly string[]> {
	let archives: ReadonlyMap<string, string>;
	try {
		archives = await packPackages(root, workspaces, join(folder, "packed"));
	} catch (error) {
		return [String(error)];
	}
	writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
	const installed = await runCommand(
		["npm", "install", "--silent", "--no-audit", "--no-fund", ...archives.values()],
		{ folder },
	);
	return installed.code === 0 ? [] : [`npm install of the packed packages failed:\n${installed.output}`];
}

async function importEntries(workspaces: readonly Workspace[], folder: string): Promise<readonly string[]> {
	const failures: string[] = [];
	for (const { specifier } of workspaces.flatMap(({ entries }) => entries)) {
		const script = `const entry = await import(${JSON.stringify(specifier)});
for (const [name, value] of Object.entries(entry))
	if (/^\\s*(class|(async )?function)/.test(String(value)) && value.name.length < 3) throw new Error(name + " is called " + value.name);`;
		const { code, output } = await runCommand([process.execPath, "--input-type=module", "-e", script], {
			folder,
		});
		if (code !== 0) failures.push(`import("${specifier}") failed once installed:\n${output}`);
	}
	return failures;
}

/** Published code is readable in stack traces and debuggers: every file has a source map that includes the sources. */
async function findMaps(workspaces: readonly Workspace[], folder: string): Promise<readonly string[]> {
	return workspaces.flatMap(({ name }) => {
		const dist = join(folder, "node_modules", name, "dist");
		const scripts = listFiles(dist, ".js");
		const unmapped = scripts.filter((file) => {
			// The inspector's page is data. A file that only re-exports needs no map.
			if (file === "page.js") return false;
			if (!existsSync(join(dist, `${file}.map`)))
				return /\b(function|class|const|var)\b/.test(readFileSync(join(dist, file), "utf8"));
			const { sourcesContent = [] } = JSON.parse(readFileSync(join(dist, `${file}.map`), "utf8"));
			return sourcesContent.includes(null);
		});
		return unmapped.map((file) => `${name}: dist/${file} has no source map, or one without its sources`);
	});
}

/** The most bytes that the built files of some packages may have together, without source maps. */
const mayWeigh = { "@holdfast/upp": 235_500, holdfast: 1_551_000 };

/** Pages that state the size of an installation, and where. */
const stated: Readonly<Record<string, RegExp>> = {
	"README.md": /\| installed \| ([\d.]+) MB/,
	"docs/adr/005-bundled-packages.md": /is ([\d.]+) MB without source maps/,
	"docs/guide/comparison.md": /it was ([\d.]+) MB on/,
};

/** Keeps the size of an installation below 1.78 MB, and equal to the one that pages state. */
async function weigh(_: readonly Workspace[], folder: string): Promise<readonly string[]> {
	const failures: string[] = [];
	let total = 0;
	for (const [name, limit] of Object.entries(mayWeigh)) {
		const dist = join(folder, "node_modules", name, "dist");
		const files = listFiles(dist, "").filter((file) => !file.endsWith(".map"));
		const size = files.reduce((sum, file) => sum + statSync(join(dist, file)).size, 0);
		total += size;
		if (size > limit) failures.push(`${name} weighs ${size} bytes, and may weigh ${limit}`);
	}
	const megabytes = (total / 1e6).toFixed(1);
	for (const [page, size] of Object.entries(stated)) {
		const [, found = "none"] = size.exec(readFileSync(join(root, page), "utf8")) ?? [];
		if (found !== megabytes)
			failures.push(`${page} states an installed size of ${found} MB; ${total} bytes are ${megabytes} MB`);
	}
	return failures;
}

async function startCommands(workspaces: readonly Workspace[], folder: string): Promise<readonly string[]> {
	const failures: string[] = [];
	for (const command of workspaces.flatMap(({ commands }) => commands)) {
		const { code, output } = await runCommand([join(folder, "node_modules/.bin", command), "--help"], {
			folder,
			environment: { PATH: `${dirname(process.execPath)}:${process.env.PATH}` },
		});
		if (code !== 0) failures.push(`\`${command} --help\` failed once installed (exit ${code}):\n${output}`);
	}
	return failures;
}

async function compileTypes(workspaces: readonly Workspace[], folder: string): Promise<readonly string[]> {
	const specifiers = workspaces.flatMap(({ entries }) => entries.map(({ specifier }) => specifier));
	const lines = specifiers.map((specifier, at) => `import type * as entry${at} from "${specifier}";`);
	const names = specifiers.map((_, at) => `typeof entry${at}`);
	writeFileSync(
		join(folder, "entries.ts"),
		[...lines, `export type Entries = [${names.join(", ")}];`, ""].join("\n"),
	);
	writeFileSync(
		join(folder, "tsconfig.json"),
		JSON.stringify({
			compilerOptions: {
				target: "es2024",
				lib: ["es2024", "esnext.disposable", "dom", "dom.iterable", "dom.asynciterable"],
				module: "nodenext",
				strict: true,
				noEmit: true,
				skipLibCheck: false,
				typeRoots: [join(root, "node_modules/@types")],
				types: ["node"],
			},
			files: ["entries.ts"],
		}),
	);
	const { code, output } = await runCommand([join(root, "node_modules/.bin/tsc"), "-p", "."], { folder });
	return code === 0 ? [] : [`The types of the packed packages do not compile on their own:\n${output}`];
}

async function main(): Promise<void> {
	const workspaces = readWorkspaces(root);
	const folder = mkdtempSync(join(tmpdir(), "holdfast-packed-"));
	try {
		const failures = (await Promise.all(workspaces.map(lint))).flat();
		failures.push(...(await install(workspaces, folder)));
		if (failures.length === 0) {
			const checks = [importEntries, findMaps, weigh, startCommands, compileTypes];
			failures.push(...(await Promise.all(checks.map((check) => check(workspaces, folder)))).flat());
		}
		for (const failure of failures) console.error(failure);
		process.exitCode = failures.length === 0 ? 0 : 1;
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}

await main();
