// Creates the value of a loaded project, and finds names that are used twice.

import { isTooShort, shortestSecret } from "../environment/index.ts";
import type { ItemKind, NamespaceContext, Project, ProjectEndpoint, ProjectItem } from "../types/index.ts";
import { isVisibleInNamespace } from "../visibility/index.ts";
import type { ProjectProblem } from "./problems.ts";
import { routeKey } from "./routes.ts";

/** The parts of a project. */
export interface ProjectParts {
	readonly directory: string;
	readonly version: string;
	readonly items: readonly ProjectItem[];
	/** The project's own first, then those of packages. */
	readonly endpoints: readonly ProjectEndpoint[];
	readonly warnings: readonly string[];
}

/** Returns the project, and the problems that make it invalid. */
export function makeProject(parts: ProjectParts): {
	readonly project: Project;
	readonly problems: readonly ProjectProblem[];
} {
	const problems = takenTwice(parts.items);
	const byKind = new Map<ItemKind, Map<string, ProjectItem>>();
	const ofKind = <Kind extends ItemKind>(kind: Kind): Map<string, ProjectItem<Kind>> => {
		if (!byKind.has(kind)) byKind.set(kind, new Map());
		return byKind.get(kind) as Map<string, ProjectItem<Kind>>;
	};
	for (const item of parts.items) ofKind(item.kind).set(item.name, item);
	const routes = chooseRoutes(parts.endpoints);
	problems.push(...routes.problems);
	const project: Project = Object.freeze({
		directory: parts.directory,
		version: parts.version,
		agents: ofKind("agent"),
		prompts: ofKind("prompt"),
		tools: ofKind("tool"),
		models: ofKind("model"),
		hooks: ofKind("hook"),
		effects: ofKind("effect"),
		providers: ofKind("provider"),
		endpoints: Object.freeze(routes.endpoints),
		warnings: Object.freeze([...parts.warnings, ...routes.warnings, ...parts.items.flatMap(shortSecrets)]),
		visible: <Kind extends ItemKind>(namespace: NamespaceContext, kind: Kind, name: string) => {
			const item = ofKind(kind).get(qualified(namespace, name));
			return item !== undefined && isVisibleInNamespace(item, namespace) ? item : undefined;
		},
		names: (namespace: NamespaceContext, kind: ItemKind) => {
			return [...ofKind(kind).values()]
				.filter((item) => isVisibleInNamespace(item, namespace))
				.map((item) => (namespace.type === "packed" ? item.localName : item.name))
				.sort();
		},
	});
	return { project, problems };
}

function qualified(namespace: NamespaceContext, name: string): string {
	if (namespace.type === "global" || name.startsWith(`${namespace.packageId}/`)) return name;
	return `${namespace.packageId}/${name}`;
}

/** Agents, prompts and tools share one set of names, because a model calls all of them the same way. */
function takenTwice(items: readonly ProjectItem[]): ProjectProblem[] {
	const first = new Map<string, ProjectItem>();
	const problems: ProjectProblem[] = [];
	for (const item of items) {
		const callable = item.kind === "agent" || item.kind === "prompt" || item.kind === "tool";
		const key = `${callable ? "callable" : item.kind} ${item.name}`;
		const other = first.get(key);
		if (other === undefined) first.set(key, item);
		else
			problems.push({
				file: item.file,
				field: item.kind === "hook" ? "id" : "name",
				message: `The name "${item.name}" of this ${item.kind} is also the name of the ${other.kind} in ${other.file}. Rename one.`,
			});
	}
	return problems;
}

/** A boolean-like value is never a secret. */
const flags = new Set(["", "true", "false", "yes", "no", "on", "off", "1", "0"]);

/** Finds `env` values that are too short to be masked. */
function shortSecrets({ kind, name, definition }: ProjectItem): readonly string[] {
	const { env = {} } = definition as { readonly env?: Readonly<Record<string, string>> };
	return Object.entries(env)
		.filter(([, value]) => isTooShort(value) && !flags.has(value.toLowerCase()))
		.map(
			([variable]) =>
				`The value of ${variable} in \`env\` of the ${kind} "${name}" is shorter than ${shortestSecret} characters. It is not masked, because so short a text also occurs in other words.`,
		);
}

/** If several endpoints have the same route, the project's own takes precedence; two packages may not share one. */
function chooseRoutes(endpoints: readonly ProjectEndpoint[]): {
	readonly endpoints: readonly ProjectEndpoint[];
	readonly warnings: readonly string[];
	readonly problems: readonly ProjectProblem[];
} {
	const chosen = new Map<string, ProjectEndpoint>();
	const warnings: string[] = [];
	const problems: ProjectProblem[] = [];
	for (const endpoint of endpoints) {
		const key = routeKey(endpoint);
		const other = chosen.get(key);
		if (other === undefined) chosen.set(key, endpoint);
		else if (other.packageId === null && endpoint.packageId !== null)
			warnings.push(
				`The route ${key} of the package ${endpoint.packageId} is hidden by ${other.file} of the project.`,
			);
		else
			problems.push({
				file: endpoint.file,
				message: `The route ${key} is also defined by ${other.file}. Remove or rename one.`,
			});
	}
	return { endpoints: [...chosen.values()], warnings, problems };
}
