// Bundles a program of the tests: `bundle-program.ts {source below the root} {folder}`. What comes from node_modules is left
// there. Each package that has a part in it is in it with all its doors, so that what the program loads later finds the same
// modules. The folder is there when it is complete; its manifest says which source is in which file.
import { renameSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { type Plugin, rolldown } from "rolldown";
import { readWorkspaces } from "./workspaces.ts";

const root = join(import.meta.dirname, "..");
const [program = "", folder = ""] = process.argv.slice(2);

/** Leaves alone what is not of this repository. */
const outside: Plugin = {
	name: "outside",
	async resolveId(specifier, importer, options) {
		if (specifier.startsWith("node:")) return { id: specifier, external: true };
		const found = await this.resolve(specifier, importer, { ...options, skipSelf: true });
		if (found === null) return { id: specifier, external: true };
		if (!found.id.includes("/node_modules/")) return found;
		return { id: pathToFileURL(found.id).href, external: "absolute" };
	},
};

/** A source finds what lies beside it where it did before. */
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

/** The doors of the packages that have a part in it. */
function doors(): Plugin {
	const workspaces = readWorkspaces(root);
	const seen = new Set<string>();
	return {
		name: "doors",
		moduleParsed({ id }) {
			const [, name = ""] = /^packages\/([^/]+)\/src\//.exec(relative(root, id)) ?? [];
			if (seen.has(name)) return;
			seen.add(name);
			for (const { source } of workspaces.find((each) => each.folder === name)?.entries ?? [])
				this.emitFile({ type: "chunk", id: join(root, "packages", name, source) });
		},
	};
}

const build = await rolldown({
	input: join(root, program),
	platform: "node",
	resolve: { conditionNames: ["holdfast-source", "node", "module", "import", "default"] },
	plugins: [outside, places, doors()],
});
const unfinished = `${folder}.${process.pid}`;
const { output } = await build.write({
	dir: unfinished,
	format: "esm",
	entryFileNames: "[name]-[hash].mjs",
	chunkFileNames: "[name]-[hash].mjs",
});
await build.close();
const entered = output.flatMap((part) =>
	part.type === "chunk" && part.facadeModuleId !== null
		? [[relative(root, part.facadeModuleId), part.fileName]]
		: [],
);
writeFileSync(join(unfinished, "manifest.json"), JSON.stringify(entered));
renameSync(unfinished, folder);
