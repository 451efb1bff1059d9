// Finds packages of agents in the project's node_modules and in agents/packed. A package counts if its package.json has
// `standardagent.entryAgents`.
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { HoldfastError } from "@holdfast/upp";
import { entriesOf, inGroups } from "./discover.ts";
import type { ProjectProblem } from "./problems.ts";
import type { Source } from "./read-source.ts";

/**
 * Returns the packages of a project, sorted by name. If two have the same name, the one in `agents/packed` takes
 * precedence.
 */
export async function findPackages(directory: string): Promise<{
	readonly sources: readonly Source[];
	readonly problems: readonly ProjectProblem[];
	readonly warnings: readonly string[];
}> {
	const [packed, installed, declared] = await Promise.all([
		packagesIn(join(directory, "agents/packed")),
		packagesIn(join(directory, "node_modules")),
		declaredPackages(directory),
	]);
	const sources = new Map<string, Source>();
	const problems: ProjectProblem[] = [];
	const warnings: string[] = [];
	const read = await inGroups([...new Set([...packed, ...installed, ...declared])], readPackage);
	for (const found of read) {
		if (found === undefined) continue;
		if ("message" in found) {
			problems.push(found);
			continue;
		}
		const name = found.package?.packageId ?? "";
		const other = sources.get(name);
		if (other === undefined) sources.set(name, found);
		else warnings.push(`The package ${name} in ${found.folder} is hidden by the one in ${other.folder}.`);
	}
	const ordered = [...sources].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, source]) => source);
	return { sources: ordered, problems, warnings };
}

/** Returns the package folders directly in a folder, and in the folders of its scopes. */
async function packagesIn(folder: string): Promise<readonly string[]> {
	const entries = (await entriesOf(folder)).filter(
		(entry) => !entry.name.startsWith(".") && (entry.isDirectory() || entry.isSymbolicLink()),
	);
	const lists = await Promise.all(
		entries.map(({ name }) => {
			return name.startsWith("@") ? packagesIn(join(folder, name)) : [join(folder, name)];
		}),
	);
	return lists.flat();
}

/** Returns the folders of dependencies in a node_modules further up, as in workspaces. */
async function declaredPackages(directory: string): Promise<readonly string[]> {
	const manifest = parse(await text(join(directory, "package.json")));
	const names = Object.keys({ ...record(manifest?.dependencies), ...record(manifest?.devDependencies) });
	return names.flatMap((name) => {
		for (let above = directory; ; above = dirname(above)) {
			const folder = join(above, "node_modules", name);
			if (existsSync(join(folder, "package.json"))) return above === directory ? [] : [folder];
			if (dirname(above) === above) return [];
		}
	});
}

/** Returns the package in a folder; undefined if it has no agents. */
async function readPackage(folder: string): Promise<Source | ProjectProblem | undefined> {
	const file = join(folder, "package.json");
	const content = await text(file);
	// Most packages do not contain this key, and are not parsed.
	if (!content.includes('"standardagent"')) return undefined;
	const manifest = parse(content);
	const declared = record(manifest?.standardagent);
	if (manifest === undefined) return { file, message: "It is not valid JSON." };
	if (!Object.hasOwn(declared, "entryAgents")) return undefined;
	const { name } = manifest;
	if (typeof name !== "string" || !/^(?:@[\w.-]+\/)?[\w.-]+$/.test(name))
		return { file, field: "name", message: "A package needs a name." };
	const wrong = (["entryAgents", "effects", "threadEndpoints"] as const).find((field) => {
		const value = declared[field];
		if (value === undefined || (value === true && field !== "entryAgents")) return false;
		return !Array.isArray(value) || value.some((each) => typeof each !== "string");
	});
	if (wrong !== undefined)
		return { file, field: `standardagent.${wrong}`, message: "It must be a list of names." };
	const { skills = {} } = declared;
	if (!isRecord(skills) || Object.values(skills).some((hash) => typeof hash !== "string"))
		return {
			file,
			field: "standardagent.skills",
			message: "It must contain the hash of each skill by name.",
		};
	const hasFiles = existsSync(join(folder, "agents"));
	const main = hasFiles ? undefined : mainOf(manifest);
	return {
		folder: join(folder, "agents"),
		...(main === undefined ? {} : { main: join(folder, main) }),
		package: {
			packageId: name,
			file,
			entryAgents: declared.entryAgents as readonly string[],
			effects: (declared.effects as readonly string[] | true | undefined) ?? [],
			threadEndpoints: (declared.threadEndpoints as readonly string[] | true | undefined) ?? [],
			skills: skills as Readonly<Record<string, string>>,
		},
	};
}

/** Returns the module under which a package is imported. */
function mainOf(manifest: Readonly<Record<string, unknown>>): string {
	let target: unknown = manifest.exports;
	while (typeof target === "object" && target !== null) {
		const { ".": dot, import: imported, node, default: other } = target as Record<string, unknown>;
		target = dot ?? imported ?? node ?? other;
	}
	return typeof target === "string" ? target : typeof manifest.main === "string" ? manifest.main : "index.js";
}

/** Returns the content of a file, or undefined. */
async function text(file: string): Promise<string> {
	try {
		return await readFile(file, "utf8");
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		if (code === "ENOENT" || code === "ENOTDIR") return "";
		throw new HoldfastError("project_unreadable", `The file ${file} cannot be read: ${code}.`, {
			cause: error,
			data: { file },
		});
	}
}

function parse(content: string): Readonly<Record<string, unknown>> | undefined {
	try {
		const value: unknown = JSON.parse(content);
		return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
	} catch {
		return undefined;
	}
}

function record(value: unknown): Readonly<Record<string, unknown>> {
	return isRecord(value) ? value : {};
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}
