// Reads the packages of the repository as their package.json states them.
import { existsSync, readdirSync, readFileSync } from "node:fs";

/** A package of the repository. */
export interface Workspace {
	/** Name as published, `@holdfast/upp`. */
	readonly name: string;
	/** Name of its folder under packages/. */
	readonly folder: string;
	readonly dependencies: readonly string[];
	/** Public entries that can be imported: the specifier, and the source file under the package's folder. */
	readonly entries: readonly { readonly specifier: string; readonly source: string }[];
	/** Commands it installs. */
	readonly commands: readonly string[];
}

type Manifest = {
	readonly name: string;
	readonly dependencies?: Readonly<Record<string, string>>;
	readonly optionalDependencies?: Readonly<Record<string, string>>;
	readonly bin?: Readonly<Record<string, string>>;
	readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
};

/** The packages under `root`/packages, ordered by folder. */
export function readWorkspaces(root: string): readonly Workspace[] {
	return readdirSync(`${root}/packages`)
		.filter((folder) => existsSync(`${root}/packages/${folder}/package.json`))
		.sort()
		.map((folder) => {
			const manifest: Manifest = JSON.parse(readFileSync(`${root}/packages/${folder}/package.json`, "utf8"));
			const entries = Object.entries(manifest.exports ?? {}).flatMap(([path, target]) => {
				const source = typeof target === "string" ? undefined : target["holdfast-source"];
				return source === undefined ? [] : [{ specifier: manifest.name + path.slice(1), source }];
			});
			return {
				name: manifest.name,
				folder,
				dependencies: Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies }),
				entries,
				commands: Object.keys(manifest.bin ?? {}),
			};
		});
}

/** The packages with these names and those they depend on, in the order of `workspaces`. Other names are ignored. */
export function withDependencies(
	workspaces: readonly Workspace[],
	names: Iterable<string>,
): readonly Workspace[] {
	const found = new Set(names);
	for (const name of found)
		for (const dependency of workspaces.find((each) => each.name === name)?.dependencies ?? [])
			found.add(dependency);
	return workspaces.filter(({ name }) => found.has(name));
}

/** The name of an entry in dist, without extension: its path under src. */
export function outputOf(source: string): string {
	return source.replace(/^(?:\.\/)?src\//, "").replace(/\.ts$/, "");
}
