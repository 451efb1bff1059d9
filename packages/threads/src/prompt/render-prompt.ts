// The system message of a prompt: its parts in order, with nothing between them (SA-017 … SA-019).
import { HoldfastError } from "@holdfast/upp";
import type { Project, ProjectItem } from "../types/index.ts";

/** Resolves a value of the environment; rejects, naming it, where it has none. */
export type ResolveEnv = (property: string) => Promise<string> | string;

/**
 * Renders a prompt as text.
 *
 * @throws HoldfastError `prompt_unrenderable` for an include that does not exist or leads back to itself, and whatever
 * `env` rejects with
 */
export async function renderPrompt(
	project: Project,
	prompt: ProjectItem<"prompt">,
	env: ResolveEnv,
): Promise<string> {
	return await render(project, prompt, env, []);
}

async function render(
	project: Project,
	prompt: ProjectItem<"prompt">,
	env: ResolveEnv,
	above: readonly ProjectItem[],
): Promise<string> {
	const content = prompt.definition.prompt;
	if (typeof content === "string") return content;
	const path = [...above, prompt];
	let text = "";
	for (const part of content) {
		if (part.type === "text") text += part.content;
		else if (part.type === "env") text += await env(part.property);
		else {
			const included = project.visible(prompt.namespace, "prompt", part.prompt);
			if (included === undefined || path.includes(included))
				throw new HoldfastError(
					"prompt_unrenderable",
					`The prompt "${prompt.name}" includes "${part.prompt}", which ${included === undefined ? "does not exist" : "includes it in turn"}.`,
					{ data: { prompt: prompt.name, include: part.prompt } },
				);
			text += await render(project, included, env, path);
		}
	}
	return text;
}
