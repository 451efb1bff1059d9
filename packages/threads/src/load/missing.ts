// Finds names without a definition.
import type { ItemKind, Project, ProjectItem } from "../types/index.ts";
import type { ProjectProblem } from "./problems.ts";

/** Returns the names that no item of a kind has. */
export function missing(
	project: Project,
	item: ProjectItem,
	kind: ItemKind,
	field: string,
	names: readonly string[],
): ProjectProblem[] {
	return names
		.filter((name) => project.visible(item.namespace, kind, name) === undefined)
		.map((name) => ({ file: item.file, field, message: noSuch(item, kind, name) }));
}

function noSuch(item: ProjectItem, kind: string, name: string): string {
	return `The ${item.kind} "${item.name}" names the ${kind} "${name}", which does not exist.`;
}

/** Whether a name belongs to a tool that the runtime does not provide itself. */
function isForeign(name: string): boolean {
	return name.startsWith("provider:") || name.startsWith("mcp:");
}

/** Returns the names that no tool, prompt or agent has. */
export function missingCallables(
	project: Project,
	item: ProjectItem,
	field: string,
	names: readonly string[],
): ProjectProblem[] {
	const kinds = ["tool", "prompt", "agent"] as const;
	return names
		.filter((name) => !isForeign(name))
		.filter((name) => kinds.every((kind) => project.visible(item.namespace, kind, name) === undefined))
		.map((name) => ({ file: item.file, field, message: noSuch(item, "tool", name) }));
}
