// The size of an installation of the two packages and their dependencies.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { report } from "../measure.ts";

/** Returns the total size of all files below a folder except source maps, without the overhead of disk blocks. */
function sizeOf(folder: string): number {
	return readdirSync(folder, { recursive: true, withFileTypes: true })
		.filter((entry) => entry.isFile() && !entry.name.endsWith(".map"))
		.reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

const names = ["@holdfast/upp", "holdfast"];
const places = names.map((name) => join("..", "..", "node_modules", name));
const sizes = places.map(sizeOf);
const dependencies = new Set(
	places.flatMap((place) => {
		const manifest: { dependencies?: object; optionalDependencies?: object } = JSON.parse(
			readFileSync(join(place, "package.json"), "utf8"),
		);
		return Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies });
	}),
);
for (const name of names) dependencies.delete(name);

report([
	{
		what: "installed size of @holdfast/upp and holdfast without source maps",
		unit: "KB",
		median: sizes.reduce((sum, size) => sum + size, 0) / 1000,
		target: { is: "at most", value: 1_500 },
		note: names.map((name, at) => `${name} ${((sizes[at] ?? 0) / 1000).toFixed(0)} KB`).join(", "),
	},
	{
		what: "dependencies other than each other",
		unit: "",
		median: dependencies.size,
		target: { is: "at most", value: 0 },
	},
]);
