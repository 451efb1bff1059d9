// An application that installs the packed packages, and the bundlers that build it. Each bundler is loaded from the
// application's own node_modules and used through its own API.
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { packPackages } from "../../tools/pack.ts";
import { type CommandResult, runCommand } from "../../tools/run-command.ts";
import { readWorkspaces } from "../../tools/workspaces.ts";

const root = join(import.meta.dirname, "../..");

/** The versions that the packages are tried with. */
const bundlerPackages = [
	"esbuild@0.28.2",
	"webpack@5.113.0",
	"rollup@4.68.8",
	"@rollup/plugin-node-resolve@16.0.3",
	"@rollup/plugin-commonjs@29.0.3",
	"@rollup/plugin-json@6.1.0",
	"vite@8.3.8",
];

/** Optional packages of dependencies, which an application that does not install them marks as external. */
const external = ["typescript", "fast-check"];

/** A bundler with the module format that it writes. */
export interface Bundler {
	readonly name: string;
	/** `mjs` for ECMAScript modules, `cjs` for CommonJS. */
	readonly ending: "mjs" | "cjs";
	/** Builds each of the files, which are given by name, into `into`. Rejects with what the bundler reported. */
	build(app: string, files: Readonly<Record<string, string>>, into: string): Promise<void>;
}

// biome-ignore lint/suspicious/noExplicitAny: the bundlers belong to the application, so their types are not known here.
type Untyped = any;

const load = async (app: string, name: string): Promise<Untyped> => {
	const found = createRequire(join(app, "package.json")).resolve(name);
	const loaded = await import(pathToFileURL(found).href);
	return loaded.default ?? loaded;
};

function esbuild(format: "esm" | "cjs"): Bundler {
	const ending = format === "esm" ? "mjs" : "cjs";
	const banner = 'import{createRequire as __cr}from"node:module";const require=__cr(import.meta.url);';
	return {
		name: `esbuild to ${format}`,
		ending,
		async build(app, files, into) {
			await (await load(app, "esbuild")).build({
				entryPoints: files,
				outdir: into,
				outExtension: { ".js": `.${ending}` },
				bundle: true,
				platform: "node",
				target: "node22",
				format,
				external,
				logLevel: "silent",
				...(format === "esm" ? { banner: { js: banner } } : {}),
			});
		},
	};
}

const webpack: Bundler = {
	name: "webpack",
	ending: "mjs",
	async build(app, files, into) {
		const run = await load(app, "webpack");
		const stats = await new Promise<Untyped>((resolve, reject) => {
			run(
				{
					mode: "production",
					target: "node22",
					context: app,
					entry: files,
					experiments: { outputModule: true },
					output: { path: into, filename: "[name].mjs", module: true, chunkFormat: "module" },
					externalsType: "node-commonjs",
					externals: external,
					// A worker thread loads the sandbox's engine from a file.
					module: { rules: [{ test: /\.wasm$/, type: "asset/resource" }] },
					optimization: { minimize: false },
				},
				(error: unknown, result: unknown) => (error ? reject(error) : resolve(result)),
			);
		});
		const { errors } = stats.toJson({ all: false, errors: true });
		if (errors.length > 0) throw new Error(errors.map(({ message }: Untyped) => message).join("\n"));
	},
};

function rollup(format: "es" | "cjs"): Bundler {
	const ending = format === "es" ? "mjs" : "cjs";
	return {
		name: `rollup to ${format}`,
		ending,
		async build(app, files, into) {
			const plugins = await Promise.all(
				["node-resolve", "commonjs", "json"].map((name) => load(app, `@rollup/plugin-${name}`)),
			);
			const [resolve, commonjs, json] = plugins.map((plugin) => plugin.nodeResolve ?? plugin);
			const built = await (await load(app, "rollup")).rollup({
				input: files,
				external: (id: string) => id.startsWith("node:") || external.includes(id),
				plugins: [
					resolve({ preferBuiltins: true, exportConditions: ["node"] }),
					commonjs({ ignore: external }),
					json(),
				],
				onwarn: () => {},
			});
			await built.write({
				dir: into,
				format,
				entryFileNames: `[name].${ending}`,
				chunkFileNames: `[hash].${ending}`,
			});
			await built.close();
		},
	};
}

const vite: Bundler = {
	name: "vite for servers",
	ending: "mjs",
	async build(app, files, into) {
		await (await load(app, "vite")).build({
			configFile: false,
			root: app,
			logLevel: "silent",
			ssr: { noExternal: true, target: "node", external },
			build: {
				ssr: true,
				outDir: into,
				emptyOutDir: false,
				minify: false,
				rolldownOptions: {
					input: files,
					external,
					output: { entryFileNames: "[name].mjs", chunkFileNames: "[hash].mjs" },
				},
			},
		});
	},
};

export const bundlers: readonly Bundler[] = [
	esbuild("esm"),
	esbuild("cjs"),
	webpack,
	rollup("es"),
	rollup("cjs"),
	vite,
];

/** Needs a test runner or a test library. */
const forTests = ["@holdfast/testing/same-as-memory"];

/** The entries of all packages that applications import. */
export const specifiers: readonly string[] = readWorkspaces(root)
	.filter(({ folder }) => folder !== "cli" && folder !== "create-holdfast")
	.flatMap(({ entries }) => entries.map(({ specifier }) => specifier))
	.filter((specifier) => !forTests.includes(specifier));

/** Packs the packages, installs them with others into a new folder, and returns it. */
export async function makeApplication(others: readonly string[] = bundlerPackages): Promise<string> {
	const app = mkdtempSync(join(process.env.HOLDFAST_DISK ?? tmpdir(), "holdfast-bundled-"));
	const archives = await packPackages(root, readWorkspaces(root), join(app, "packed"));
	writeFileSync(join(app, "package.json"), JSON.stringify({ private: true }));
	const packages = [...archives.values(), ...others, "pg@8", "react@19"];
	const { code, output } = await run(
		["npm", "install", "--silent", "--no-audit", "--no-fund", ...packages],
		app,
	);
	if (code !== 0) throw new Error(`npm install failed:\n${output}`);
	return app;
}

/** Runs a program with the environment of an application: nothing of the repository's tests is in it. */
export function run(command: readonly [string, ...string[]], folder: string): Promise<CommandResult> {
	const environment = {
		PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
		NODE_OPTIONS: undefined,
		VITEST: undefined,
		NODE_ENV: undefined,
	};
	return runCommand(command, { folder, environment, timeout: 300_000 });
}

/** Writes sources into the application; returns their paths by name. */
export function writeSources(app: string, sources: Readonly<Record<string, string>>): Record<string, string> {
	mkdirSync(join(app, "src"), { recursive: true });
	return Object.fromEntries(
		Object.entries(sources).map(([name, text]) => {
			const path = join(app, "src", `${basename(name)}.mjs`);
			writeFileSync(path, text);
			return [name, path];
		}),
	);
}
