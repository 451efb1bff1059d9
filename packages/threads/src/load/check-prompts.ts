// Checks the includes and offered tools of prompts.
import { validateToolName } from "../define/index.ts";
import type { NamespaceContext, Project, ProjectItem, PromptPart } from "../types/index.ts";
import { missing, missingCallables } from "./missing.ts";
import type { ProjectProblem } from "./problems.ts";

/** Finds problems in the prompts of a project. */
export function checkPrompts(project: Project): readonly ProjectProblem[] {
	const secrets = secretsByNamespace(project);
	return [...project.prompts.values()]
		.flatMap((prompt) => {
			const { definition, namespace } = prompt;
			return [
				...missing(project, prompt, "model", "model", [definition.model]),
				...missing(project, prompt, "hook", "hooks", definition.hooks ?? []),
				...missing(project, prompt, "prompt", "prompt", includesOf(prompt)),
				...checkTools(project, prompt),
				...checkSecrets(prompt, secrets.get(keyOf(namespace)) ?? new Set()),
			];
		})
		.concat(checkCycles(project));
}

function checkTools(project: Project, prompt: ProjectItem<"prompt">): readonly ProjectProblem[] {
	const { namespace, file, name } = prompt;
	return (prompt.definition.tools ?? []).flatMap((entry, at): readonly ProjectProblem[] => {
		const tool: string = typeof entry === "string" ? entry : entry.name;
		const field = `tools[${at}]`;
		const agent = project.visible(namespace, "agent", tool);
		if (agent !== undefined && agent.definition.exposeAsTool !== true) {
			const message = `The prompt "${name}" lists the agent "${tool}", which is not exposed. Give the agent \`exposeAsTool: true\` and a \`toolDescription\`.`;
			return [{ file, field, message }];
		}
		const unknown = missingCallables(project, prompt, field, [tool]);
		if (unknown.length > 0) return unknown;
		const local = agent ?? project.visible(namespace, "prompt", tool);
		return local === undefined ? [] : checkCallableName(prompt, field, local.localName);
	});
}

/** A model calls prompts and agents by their names, so these must be names that tools can have. */
function checkCallableName(
	prompt: ProjectItem<"prompt">,
	field: string,
	name: string,
): readonly ProjectProblem[] {
	try {
		validateToolName(name);
		return [];
	} catch (error) {
		return [{ file: prompt.file, field, message: (error as Error).message }];
	}
}

function partsOf(prompt: ProjectItem<"prompt">): readonly PromptPart[] {
	const content = prompt.definition.prompt;
	return typeof content === "string" ? [] : content;
}

function includesOf(prompt: ProjectItem<"prompt">): readonly string[] {
	return partsOf(prompt).flatMap((part) => (part.type === "include" ? [part.prompt] : []));
}

/** Names that a namespace declares as secret, in a prompt or in a tool. */
function secretsByNamespace(project: Project): ReadonlyMap<string, ReadonlySet<string>> {
	const secrets = new Map<string, Set<string>>();
	for (const { namespace, definition } of [...project.prompts.values(), ...project.tools.values()]) {
		const known = secrets.get(keyOf(namespace)) ?? new Set();
		secrets.set(keyOf(namespace), known);
		for (const { name, type } of definition.variables ?? []) if (type === "secret") known.add(name);
	}
	return secrets;
}

function keyOf(namespace: NamespaceContext): string {
	return namespace.type === "packed" ? namespace.packageId : "";
}

function checkSecrets(
	prompt: ProjectItem<"prompt">,
	secrets: ReadonlySet<string>,
): readonly ProjectProblem[] {
	return partsOf(prompt).flatMap((part, at) => {
		if (part.type !== "env" || !secrets.has(part.property)) return [];
		const message = `The value "${part.property}" is declared as a secret. A prompt cannot show it to the model.`;
		return [{ file: prompt.file, field: `prompt[${at}].property`, message }];
	});
}

/** Prompts that include themselves, directly or indirectly: each cycle is reported once. */
function checkCycles(project: Project): readonly ProjectProblem[] {
	const problems: ProjectProblem[] = [];
	const done = new Set<ProjectItem>();
	const path: ProjectItem<"prompt">[] = [];
	const visit = (prompt: ProjectItem<"prompt">): void => {
		const start = path.indexOf(prompt);
		if (start >= 0) {
			const names = [...path.slice(start), prompt].map(({ name }) => name).join(" → ");
			problems.push({
				file: prompt.file,
				field: "prompt",
				message: `These prompts include each other: ${names}.`,
			});
			return;
		}
		if (done.has(prompt)) return;
		path.push(prompt);
		for (const name of includesOf(prompt)) {
			const included = project.visible(prompt.namespace, "prompt", name);
			if (included !== undefined) visit(included);
		}
		path.pop();
		done.add(prompt);
	};
	for (const prompt of project.prompts.values()) visit(prompt);
	return problems;
}
