// Reads all items of the project or of one package.
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import type { Controller, ItemKind, ProjectEndpoint, ProjectItem } from "../types/index.ts";
import { discover, type FoundFile, inGroups } from "./discover.ts";
import type { ProjectProblem } from "./problems.ts";
import {
	checkDefinition,
	type ImportModule,
	type ReadItem,
	readDefinition,
	readHandler,
} from "./read-definition.ts";
import { routeOf, routeProblem } from "./routes.ts";

/** The source of items. */
export interface Source {
	/** The folder that contains `agents/`, `prompts/` and the others. */
	readonly folder: string;
	/** For a package without such a folder: the module that exports all items. */
	readonly main?: string;
	/** The package; absent for the project itself. */
	readonly package?: PackageDeclaration;
}

/** The declaration in a package's `package.json`. */
export interface PackageDeclaration {
	readonly packageId: string;
	/** Its `package.json`. */
	readonly file: string;
	/** Agents that a project may use. */
	readonly entryAgents: readonly string[];
	/** Effects that a project may schedule; `true` for all. */
	readonly effects: readonly string[] | true;
	/** Keys of routes that are mounted, such as `status.get`; `true` for all. */
	readonly threadEndpoints: readonly string[] | true;
	/** The hashes of its skills by name. */
	readonly skills: Readonly<Record<string, string>>;
}

/** The items of a source. */
export interface SourceItems {
	readonly items: readonly ProjectItem[];
	readonly endpoints: readonly ProjectEndpoint[];
	readonly problems: readonly ProjectProblem[];
	/** Hash of the contents of its files. */
	readonly hash: string;
}

/** Reads the items of a source; problems are collected. */
export async function readSource(source: Source, importModule: ImportModule): Promise<SourceItems> {
	if (source.main !== undefined) return await readExports(source, source.main, importModule);
	const files = await discover(source.folder);
	const items: ProjectItem[] = [];
	const endpoints: ProjectEndpoint[] = [];
	const problems: ProjectProblem[] = [];
	const [hashes, read] = await Promise.all([
		inGroups(files, hashOf),
		Promise.all(
			files.map((file) => {
				return isItem(file) ? readDefinition(file, importModule) : readHandler(file, importModule);
			}),
		),
	]);
	for (const [at, found] of read.entries()) {
		const file = files[at] as FoundFile;
		if ("message" in found) problems.push(found);
		else if ("handler" in found) {
			const route = routeOf(file.stem);
			const wrong = routeProblem(route.route);
			if (wrong !== undefined) problems.push({ file: file.path, message: wrong });
			else if (isMounted(source, file.stem))
				endpoints.push({
					...route,
					handler: found.handler,
					packageId: source.package?.packageId ?? null,
					file: file.path,
				});
		} else items.push(itemOf(source, file, found));
	}
	problems.push(...missingEntries(source, items));
	return { items, endpoints, problems, hash: createHash("sha256").update(hashes.join()).digest("hex") };
}

/** Reads a package with one module that exports its items by kind: `PackedExports`. */
async function readExports(source: Source, main: string, importModule: ImportModule): Promise<SourceItems> {
	const items: ProjectItem[] = [];
	const endpoints: ProjectEndpoint[] = [];
	const problems: ProjectProblem[] = [];
	let exported: Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>> = {};
	try {
		exported = (await importModule(pathToFileURL(main).href)) as typeof exported;
	} catch (error) {
		problems.push({ file: main, message: `It cannot be loaded: ${String(error)}` });
	}
	for (const kind of ["agent", "prompt", "tool", "model", "hook", "effect"] as const) {
		for (const [name, value] of Object.entries(exported[`${kind}s`] ?? {})) {
			const found = checkDefinition({ kind, stem: name, path: main }, value, `${kind}s.${name}`);
			if ("message" in found) problems.push(found);
			else items.push(itemOf(source, { path: main }, found));
		}
	}
	for (const [key, handler] of Object.entries(exported.threadEndpoints ?? {})) {
		const wrong = typeof handler === "function" ? routeProblem(routeOf(key).route) : "It is not an endpoint.";
		if (wrong !== undefined) problems.push({ file: main, field: `threadEndpoints.${key}`, message: wrong });
		else if (isMounted(source, key))
			endpoints.push({
				...routeOf(key),
				handler: handler as Controller,
				packageId: source.package?.packageId ?? null,
				file: main,
			});
	}
	problems.push(...missingEntries(source, items));
	return { items, endpoints, problems, hash: await hashOf({ path: main }) };
}

function isItem(file: FoundFile): file is FoundFile & { readonly kind: ItemKind } {
	return file.kind !== "endpoint";
}

async function hashOf({ path }: Pick<FoundFile, "path">): Promise<string> {
	// If a file was removed in the meantime, its import reports the problem.
	const text = await readFile(path).catch(() => "");
	return `${path}:${createHash("sha256").update(text).digest("hex")}`;
}

/** Returns an item in its public form. */
function itemOf(source: Source, file: { readonly path: string }, read: ReadItem): ProjectItem {
	const packed = source.package;
	return Object.freeze({
		kind: read.kind,
		name: packed === undefined ? read.name : `${packed.packageId}/${read.name}`,
		localName: read.name,
		packageId: packed?.packageId ?? null,
		namespace:
			packed === undefined
				? { type: "global" as const }
				: { type: "packed" as const, packageId: packed.packageId },
		isEntry: packed === undefined || isEntry(packed, read.kind, read.name),
		file: file.path,
		definition: read.definition,
	});
}

function isEntry({ entryAgents, effects }: PackageDeclaration, kind: ItemKind, name: string): boolean {
	if (kind === "agent") return entryAgents.includes(name);
	return kind === "effect" && (effects === true || effects.includes(name));
}

function isMounted(source: Source, stem: string): boolean {
	const declared = source.package?.threadEndpoints ?? true;
	return declared === true || declared.includes(stem) || declared.includes(`${stem}.get`);
}

/** Items that a package declares but does not contain. */
function missingEntries(source: Source, items: readonly ProjectItem[]): readonly ProjectProblem[] {
	const packed = source.package;
	if (packed === undefined) return [];
	const names = (kind: ItemKind): ReadonlySet<string> =>
		new Set(items.filter((item) => item.kind === kind).map(({ localName }) => localName));
	const missing = (kind: ItemKind, field: string, declared: readonly string[] | true): ProjectProblem[] => {
		const known = names(kind);
		return (declared === true ? [] : declared)
			.filter((name) => !known.has(name))
			.map((name) => ({
				file: packed.file,
				field: `standardagent.${field}`,
				message: `The package ${packed.packageId} has no ${kind} "${name}".`,
			}));
	};
	return [
		...missing("agent", "entryAgents", packed.entryAgents),
		...missing("effect", "effects", packed.effects),
	];
}
