// Declares the types of a project's names. They are added to the registries of the global namespace `StandardAgentSpec`,
// from which the types of definitions take their names.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ItemKind, NamespaceContext, Project } from "../types/index.ts";

const global: NamespaceContext = { type: "global" };
const registries: readonly (readonly [registry: string, kind: ItemKind])[] = [
	["ToolRegistry", "tool"],
	["PromptRegistry", "prompt"],
	["AgentRegistry", "agent"],
	["ModelRegistry", "model"],
	["HookRegistry", "hook"],
	["EffectRegistry", "effect"],
];

/** Returns the text of a declaration file with the names of a project. */
export function generateTypes(project: Project): string {
	const callable = [
		...project.names(global, "tool"),
		...project.names(global, "prompt"),
		...project
			.names(global, "agent")
			.filter((name) => project.agents.get(name)?.definition.exposeAsTool === true),
	].sort();
	const members = (names: readonly string[]): string => {
		if (names.length === 0) return "{}";
		return `{\n${names.map((name) => `\t\t\t${JSON.stringify(name)}: true;\n`).join("")}\t\t}`;
	};
	const interfaces = [
		...registries.map(([registry, kind]) => `interface ${registry} ${members(project.names(global, kind))}`),
		`interface CallableRegistry ${members(callable)}`,
	];
	return `// Written by holdfast from the files of this project. Do not edit it: it is overwritten.
import type {} from "@holdfast/threads";

declare global {
	namespace StandardAgentSpec {
${interfaces.map((text) => `\t\t${text}\n`).join("")}	}
}
`;
}

/**
 * Writes `agents/holdfast.d.ts` if its text has changed.
 *
 * @returns the path of the file
 */
export async function writeTypes(project: Project): Promise<string> {
	const file = join(project.directory, "agents/holdfast.d.ts");
	const text = generateTypes(project);
	const before = await readFile(file, "utf8").catch(() => undefined);
	if (before !== text) await writeFile(file, text);
	return file;
}
