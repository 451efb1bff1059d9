/** The environment values that a project names, from the process and from the project's `.env`. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseEnv } from "node:util";
import type { EnvGiven, Project } from "@holdfast/threads";

/** Variables by name. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** Reads the project's `.env` and the process environment; the latter takes precedence. */
export async function readVariables(directory: string, environment: Variables): Promise<Variables> {
	const text = await readFile(join(directory, ".env"), "utf8").catch(() => "");
	return { ...parseEnv(text), ...environment };
}

/**
 * Returns the values that a project names: variables of prompts and tools, parts of prompts, keys of providers, switches
 * of sub-agents. The project's threads see nothing else of the process environment.
 */
export function namedEnvironment(project: Project, variables: Variables): EnvGiven {
	const types = new Map<string, "text" | "secret">();
	const name = (variable: string | undefined, type: "text" | "secret"): void => {
		if (variable !== undefined && types.get(variable) !== "secret") types.set(variable, type);
	};
	for (const { definition } of project.prompts.values()) {
		if (typeof definition.prompt !== "string")
			for (const part of definition.prompt) if (part.type === "env") name(part.property, "text");
		for (const tool of definition.tools ?? []) {
			if (typeof tool === "string") continue;
			if ("optional" in tool) name(tool.optional, "text");
			if (!("immediate" in tool) || typeof tool.immediate !== "object") continue;
			name(tool.immediate.nameEnv, "text");
			name(tool.immediate.descriptionEnv, "text");
			for (const scoped of tool.immediate.scopedEnv ?? []) name(scoped, "secret");
		}
	}
	for (const { definition } of [...project.prompts.values(), ...project.tools.values()])
		for (const variable of definition.variables ?? []) name(variable.name, variable.type);
	for (const { definition } of project.models.values()) name(definition.provider.apiKeyEnv, "secret");
	return Object.fromEntries(
		[...types].flatMap(([variable, type]) => {
			const value = variables[variable];
			return value === undefined ? [] : [[variable, { value, type }]];
		}),
	);
}
