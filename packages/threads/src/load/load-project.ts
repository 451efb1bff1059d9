// Loads a project, its own files and those of packages, validates all of it, and returns one value.
import { createHash } from "node:crypto";
import { readdir, stat } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { HoldfastError } from "@holdfast/upp";
import type { Project } from "../types/index.ts";
import { checkReferences } from "./check-references.ts";
import { findPackages } from "./find-packages.ts";
import { type ProjectProblem, projectInvalid } from "./problems.ts";
import { makeProject } from "./project-value.ts";
import type { ImportModule } from "./read-definition.ts";
import { readSource, type Source } from "./read-source.ts";

/**
 * Loads the project in a folder: the folders `agents`, `prompts`, `tools`, `models`, `hooks`, `effects`, `providers`,
 * `api` and `packed` of `agents/`, and the agent packages in `node_modules`. Node loads the files itself, including
 * TypeScript. A loaded project never changes.
 *
 * @param directory the folder that contains `agents/`
 * @throws HoldfastError `project_missing` if the folder does not exist, `project_unreadable` if it cannot be read,
 * `project_invalid` with all problems in `data.problems`
 */
export async function loadProject(directory: string): Promise<Project> {
	return await loadProjectWith(
		directory,
		(url) => import(/* webpackIgnore: true */ /* turbopackIgnore: true */ url),
	);
}

/** The same, but loads modules with the given function. */
export async function loadProjectWith(directory: string, importModule: ImportModule): Promise<Project> {
	const root = resolve(directory);
	const own: Source = { folder: join(root, "agents") };
	if (!(await isFolder(own.folder)))
		throw new HoldfastError(
			"project_missing",
			`The folder ${own.folder}, which contains a project's files, does not exist.`,
			{
				data: { directory: root },
			},
		);
	const packages = await findPackages(root);
	const read = await Promise.all(
		[own, ...packages.sources].map((source) => readSource(source, importModule)),
	);
	const { project, problems: taken } = makeProject({
		directory: root,
		version: createHash("sha256")
			.update(read.map(({ hash }) => hash).join())
			.digest("hex")
			.slice(0, 16),
		items: read.flatMap(({ items }) => items),
		endpoints: read.flatMap(({ endpoints }) => endpoints),
		warnings: [...packages.warnings, ...(await misplaced(own.folder))],
	});
	const problems: ProjectProblem[] = [
		...packages.problems,
		...read.flatMap((source) => source.problems),
		...taken,
	];
	// Names that files with errors would have defined are missing, and would be reported too.
	if (problems.length === 0 || read.every((source) => source.problems.length === 0))
		problems.push(...(await checkReferences(project)));
	if (problems.length > 0) throw projectInvalid(root, problems);
	return project;
}

async function isFolder(path: string): Promise<boolean> {
	const found = await stat(path).catch(() => undefined);
	return found?.isDirectory() === true;
}

/** Code directly in `agents/` is never loaded: each definition belongs in the folder of its kind. */
async function misplaced(folder: string): Promise<readonly string[]> {
	const names = (await readdir(folder, { withFileTypes: true }))
		.filter((entry) => entry.isFile() && /(?<!\.d)\.(?:ts|js|mts|mjs)$/.test(entry.name))
		.map(({ name }) => name)
		.sort();
	return names.map(
		(name) =>
			`${join(folder, name)} is not loaded. An agent belongs in agents/agents/${basename(name)}, a tool in agents/tools/.`,
	);
}
