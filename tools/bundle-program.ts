// Bundles a program of the tests: `bundle-program.ts {source below the root} {folder}`. Everything it loads at startup is
// in one file, except for packages left in node_modules. Each package with a part in it is included with all its entries,
// so that later imports find the same modules. The folder exists when it is complete; its manifest maps sources to files.
import { renameSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type Plugin, rolldown } from "rolldown";
import { readWorkspaces } from "./workspaces.ts";

const root = join(import.meta.dirname, "..");
const [program = "", folder = ""] = process.argv.slice(2);

/** Packages that are bundled with their dependencies, because they are many or large files. */
const takenIn =
	/\/node_modules\/(@ai-sdk\/openai-compatible|ignore|ipaddr\.js|libphonenumber-js|minimatch|minisearch|stemmer|string-width)\//;
/** Modules that the command loads by a computed name. */
const provider = "@ai-sdk/openai-compatible";

/** Leaves alone what is not of this repository. */
const outside: Plugin = {
	name: "outside",
	async resolveId(specifier, importer, options) {
		if (specifier.startsWith("node:")) return { id: specifier, external: true };
		const found = await this.resolve(specifier, importer, { ...options, skipSelf: true });
		if (found === null) return { id: specifier, external: true };
		if (!found.id.includes("/node_modules/") || takenIn.test(found.id)) return found;
		// Their dependencies.
		if (importer?.includes("/node_modules/")) return found;
		return { id: pathToFileURL(found.id).href, external: "absolute" };
	},
};

/** Modules of Node that load far more than most programs use once one of them is imported, as an import reads every name. */
const wide = ["node:crypto", "node:http"];
const readByName: Plugin = {
	name: "read-by-name",
	resolveId(specifier) {
		return wide.includes(specifier) ? `\0${specifier}` : null;
	},
	load(id) {
		const name = id.slice(1);
		if (!wide.includes(name)) return null;
		const members = Object.entries(Object.getOwnPropertyDescriptors(process.getBuiltinModule(name)));
		const values = members.filter(([, { get }]) => get === undefined).map(([member]) => member);
		return `export const { ${values.join(", ")} } = process.getBuiltinModule("${name}");`;
	},
};

/** A source finds neighbouring files where it did before. */
const places: Plugin = {
	name: "places",
	transform(code, id) {
		if (!code.includes("import.meta.")) return null;
		const values = { dirname: dirname(id), filename: id, url: pathToFileURL(id).href };
		let replaced = id === join(root, program) ? code : code.replaceAll("import.meta.main", "false");
		for (const [name, value] of Object.entries(values))
			replaced = replaced.replaceAll(`import.meta.${name}`, JSON.stringify(value));
		return { code: replaced, map: null };
	},
};

/** The entries of the included packages. */
function doors(): Plugin {
	const workspaces = readWorkspaces(root);
	const seen = new Set<string>();
	return {
		name: "doors",
		moduleParsed({ id }) {
			const [, name = ""] = /^packages\/([^/]+)\/src\//.exec(relative(root, id)) ?? [];
			if (seen.has(name)) return;
			seen.add(name);
			if (name === "cli") this.emitFile({ type: "chunk", id: fileURLToPath(import.meta.resolve(provider)) });
			for (const { source } of workspaces.find((each) => each.folder === name)?.entries ?? [])
				this.emitFile({ type: "chunk", id: join(root, "packages", name, source) });
		},
	};
}

/**
 * What the program loads before it begins, and not the program: while that waits for something at its top level, what it loads
 * then may ask for a module of these.
 */
function loadedAtOnce() {
	const imports = new Map<string, readonly string[]>();
	const found = new Set<string>();
	function follow(id: string): void {
		for (const each of imports.get(id) ?? []) {
			if (found.has(each)) continue;
			found.add(each);
			follow(each);
		}
	}
	const plugin: Plugin = {
		name: "imports",
		moduleParsed: ({ id, importedIds }) => void imports.set(id, importedIds),
		renderStart: () => follow(join(root, program)),
	};
	return { plugin, has: (id: string) => found.has(id) };
}

const atOnce = loadedAtOnce();
const build = await rolldown({
	input: join(root, program),
	platform: "node",
	resolve: { conditionNames: ["holdfast-source", "node", "module", "import", "default"] },
	plugins: [readByName, outside, places, doors(), atOnce.plugin],
});
const unfinished = `${folder}.${process.pid}`;
const { output } = await build.write({
	dir: unfinished,
	format: "esm",
	entryFileNames: "[name]-[hash].mjs",
	chunkFileNames: "[name]-[hash].mjs",
	codeSplitting: { groups: [{ name: "loaded", test: atOnce.has }] },
});
await build.close();
const entered = output.flatMap((part) =>
	part.type === "chunk" && part.facadeModuleId !== null
		? [[relative(root, part.facadeModuleId), part.fileName]]
		: [],
);
writeFileSync(join(unfinished, "manifest.json"), JSON.stringify(entered));
renameSync(unfinished, folder);
