// Creates a package of agents from a project.
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { checkOptions, HoldfastError, makeFolder, optionNames } from "@holdfast/upp";
import { loadProject } from "../load/index.ts";
import type { ItemKind, Project, ProjectItem } from "../types/index.ts";
import { itemsOf, namedInCode } from "./closure.ts";
import { leftOut } from "./left-out.ts";
import { type PackageFile, packageFile } from "./module-files.ts";
import { type PackableSkill, skillFiles } from "./packed-skills.ts";

const packNames = optionNames<PackOptions>({
	directory: "text",
	agents: "texts",
	out: "text",
	name: "text",
	version: "text",
	effects: "texts",
	threadEndpoints: "texts",
	skills: "list",
});

/** The agents to pack, and the target folder. */
export interface PackOptions {
	/** Folder of the project. */
	readonly directory: string;
	/** Names of the agents that projects may use. */
	readonly agents: readonly string[];
	/** The folder for the package. It must not exist, or must not contain any of the files to write. */
	readonly out: string;
	/** Name of the package; by default the one that the first agent specifies. */
	readonly name?: string;
	/** Its version; that of the first agent, or 0.1.0. */
	readonly version?: string;
	/** Names of effects that projects may schedule, and that the package's own tools schedule; none by default. */
	readonly effects?: readonly string[];
	/** Keys of routes to mount beneath a thread, such as `status.get`; none by default. */
	readonly threadEndpoints?: readonly string[];
	/**
	 * Skills for the agents, such as `loadSkills()` of `@holdfast/context` returns; none by default. They are copied with
	 * all their files, and pinned by their hashes.
	 */
	readonly skills?: readonly PackableSkill[];
}

/** The created package. */
export interface PackResult {
	/** Its name. */
	readonly name: string;
	/** Absolute path of its folder. */
	readonly directory: string;
	/** Its files, relative to its folder. */
	readonly files: readonly string[];
	/** The packed items, such as `tool search`. */
	readonly items: readonly string[];
	/** One sentence for each thing that the agents use and the package does not contain. */
	readonly leftOut: readonly string[];
}

/** An API that exists only in this runtime. Code that uses it fails in any other one. */
const runtimeContext = /\b_notPackableRuntimeContext\b/;

/**
 * Packs agents of a project with all their dependencies: prompts, tools, models, hooks, imported files, and files that
 * code names with `new URL("./file", import.meta.url)`. The package is plain JavaScript; you can publish it to npm or put
 * it into `agents/packed/` of another project.
 *
 * @throws HoldfastError `pack_refused` if something does not exist or is outside the project, or the folder is taken;
 * `not_packable`, naming the items that use APIs of this runtime only
 */
export async function packAgents(options: PackOptions): Promise<PackResult> {
	checkOptions(options, packNames, { of: "packAgents()" });
	const project = await loadProject(options.directory);
	const entries = options.agents.map((name) => find(project, "agent", name));
	const effects = (options.effects ?? []).map((name) => find(project, "effect", name));
	const endpoints = (options.threadEndpoints ?? []).map((key) => findEndpoint(project, key));
	const signature = entries[0]?.definition;
	const name = options.name ?? signature?.packageName;
	if (signature === undefined || name === undefined)
		throw new HoldfastError(
			"pack_refused",
			"A package needs an agent and a name. Name both, or give the agent a `packageName`.",
		);
	if (!/^(?:@[\w.-]+\/)?[\w.-]+$/.test(name))
		throw new HoldfastError("pack_refused", `"${name}" is not a package name.`, { data: { name } });
	const { items, files } = await closureOf(project, [...entries, ...effects], endpoints);
	const foreign = items.find(({ packageId }) => packageId !== null);
	if (foreign !== undefined)
		throw new HoldfastError(
			"pack_refused",
			`"${foreign.name}" belongs to another package. A package contains only its own items.`,
			{ data: { name: foreign.name } },
		);
	const skills = await skillFiles(options.skills ?? []);
	const manifest = {
		name,
		version: options.version ?? signature.version ?? "0.1.0",
		...(signature.description === undefined ? {} : { description: signature.description }),
		type: "module",
		...(signature.author === undefined ? {} : { author: signature.author }),
		...(signature.license === undefined ? {} : { license: signature.license }),
		standardagent: {
			entryAgents: options.agents,
			...(effects.length > 0 ? { effects: options.effects } : {}),
			...(endpoints.length > 0 ? { threadEndpoints: options.threadEndpoints } : {}),
			...(skills.files.length > 0 ? { skills: skills.hashes } : {}),
		},
		...(await dependenciesOf(project.directory, files)),
	};
	const out = resolve(options.out);
	const text = `${JSON.stringify(manifest, null, 2)}\n`;
	const all = [...files, ...skills.files, { path: "package.json", content: text }];
	const taken = all.find(({ path }) => existsSync(join(out, path)));
	if (taken !== undefined)
		throw new HoldfastError("pack_refused", `The file ${join(out, taken.path)} already exists.`, {
			data: { file: join(out, taken.path) },
		});
	for (const { path, content } of all) {
		makeFolder(dirname(join(out, path)), 0o777);
		await writeFile(join(out, path), content);
	}
	return {
		name,
		directory: out,
		files: all.map(({ path }) => path).sort(),
		items: [
			...items.map(({ kind, localName }) => `${kind} ${localName}`),
			...Object.keys(skills.hashes).map((skill) => `skill ${skill}`),
		].sort(),
		leftOut: await leftOut(project, items),
	};
}

function find<Kind extends ItemKind>(project: Project, kind: Kind, name: string): ProjectItem<Kind> {
	const item = project.visible({ type: "global" }, kind, name);
	if (item !== undefined) return item;
	throw new HoldfastError("pack_refused", `The project has no ${kind} "${name}".`, { data: { kind, name } });
}

function findEndpoint(project: Project, key: string): { readonly file: string } {
	const found = project.endpoints.find(({ packageId, file }) => {
		const stem = file.slice(join(project.directory, "agents/api").length + 1).replace(/\.[mc]?[tj]s$/, "");
		return packageId === null && (stem === key || `${stem}.get` === key);
	});
	if (found !== undefined) return found;
	throw new HoldfastError("pack_refused", `The project has no endpoint "${key}".`, { data: { key } });
}

/**
 * Collects all required items and their files. Names in string literals of the code, such as
 * `state.scheduleEffect("tidy")`, are followed too, until nothing new is found.
 */
async function closureOf(
	project: Project,
	starts: readonly ProjectItem[],
	endpoints: readonly { readonly file: string }[],
): Promise<{ readonly items: readonly ProjectItem[]; readonly files: readonly PackageFile[] }> {
	let items = itemsOf(project, starts);
	for (;;) {
		const files = await collect(project.directory, items.filter(isOwn), endpoints);
		const named = files.flatMap(({ content }) => (typeof content === "string" ? namedInCode(content) : []));
		const found = named.flatMap(([kind, name]) => project.visible({ type: "global" }, kind, name) ?? []);
		const more = itemsOf(project, [...items, ...found]);
		if (more.length === items.length) return { items, files };
		items = more;
	}
}

function isOwn({ packageId }: ProjectItem): boolean {
	return packageId === null;
}

/** Collects the files of items, and all files that they import within the project. */
async function collect(
	root: string,
	items: readonly ProjectItem[],
	endpoints: readonly { readonly file: string }[],
): Promise<readonly PackageFile[]> {
	const files = new Map<string, PackageFile>();
	const bound: string[] = [];
	const add = async (start: string): Promise<boolean> => {
		let isBound = false;
		const seen = new Set([start]);
		for (const file of seen) {
			const read = files.get(file) ?? (await packageFile(root, file));
			files.set(file, read);
			isBound ||= typeof read.content === "string" && runtimeContext.test(read.content);
			for (const target of read.imports) seen.add(target);
		}
		return isBound;
	};
	for (const { kind, localName, file } of items) if (await add(file)) bound.push(`${kind} "${localName}"`);
	for (const { file } of endpoints) if (await add(file)) bound.push(`endpoint ${file}`);
	if (bound.length === 0) return [...files.values()];
	throw new HoldfastError(
		"not_packable",
		`Features of this runtime cannot be packed, but these use them: the ${bound.join(", the ")}. Use values of the environment instead.`,
		{ data: { items: bound } },
	);
}

/**
 * Returns the npm packages that the files import, in the project's versions. The project that uses the package must
 * provide `@holdfast/threads` itself.
 */
async function dependenciesOf(
	root: string,
	files: readonly PackageFile[],
): Promise<{ dependencies?: Record<string, string>; peerDependencies: Record<string, string> }> {
	const manifest = JSON.parse(await readFile(join(root, "package.json"), "utf8").catch(() => "{}"));
	const known: Record<string, string> = { ...manifest.devDependencies, ...manifest.dependencies };
	const used = [...new Set(files.flatMap(({ packages }) => packages))].sort();
	const shared = new Set(["@holdfast/threads", "zod"]);
	const versions = (names: readonly string[]): Record<string, string> =>
		Object.fromEntries(names.map((name) => [name, known[name] ?? "*"]));
	const own = used.filter((name) => !shared.has(name));
	return {
		...(own.length > 0 ? { dependencies: versions(own) } : {}),
		peerDependencies: versions(used.filter((name) => shared.has(name))),
	};
}
