// Copies the files of a package into a project as its own.
import { existsSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { HoldfastError, makeFolder } from "@holdfast/upp";
import { filesIn, findPackages } from "../load/index.ts";

/** The result of unpacking. */
export interface UnpackResult {
	/** The folder of the package. It may be removed. */
	readonly from: string;
	/** Files that were added to the project, relative to its folder. */
	readonly files: readonly string[];
}

/**
 * Copies an installed package's contents into the project: its items become the project's own, and you can change them.
 * Existing files are never overwritten.
 *
 * @throws HoldfastError `unpack_refused` if the package is not installed, or the project has a file of the same name
 */
export async function unpackAgents(directory: string, name: string): Promise<UnpackResult> {
	const root = resolve(directory);
	const { sources } = await findPackages(root);
	const found = sources.find((source) => source.package?.packageId === name);
	if (found?.package === undefined)
		throw new HoldfastError("unpack_refused", `The project has no package of agents "${name}".`, {
			data: { name },
		});
	const from = dirname(found.package.file);
	const files = (await filesIn(from)).map((file) => relative(from, file)).filter(isOfTheAgents);
	const taken = files.find((file) => existsSync(join(root, file)) || existsSync(join(root, asSource(file))));
	if (taken !== undefined)
		throw new HoldfastError(
			"unpack_refused",
			`The project already has a file ${taken}. Rename it, or use the package directly.`,
			{ data: { file: taken } },
		);
	for (const file of files) {
		makeFolder(dirname(join(root, file)), 0o777);
		await copyFile(join(from, file), join(root, file));
	}
	return { from, files: files.sort() };
}

/** Files directly in a package's folder describe the package. */
function isOfTheAgents(file: string): boolean {
	return /[\\/]/.test(file);
}

function asSource(file: string): string {
	return file.replace(/js$/, "ts");
}
