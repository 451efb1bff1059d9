// The system message of a prompt: its parts in order, without separators.
import { HoldfastError } from "holdfast";
import type { ProjectItem } from "../types/index.ts";
import type { EnvironmentPart } from "./parts.ts";
import type { ProjectIndex } from "./project-index.ts";
import type { PromptEdits } from "./prompt-edits.ts";

/** The context for rendering a prompt. */
export interface PromptParts {
	readonly index: ProjectIndex;
	readonly env: Pick<EnvironmentPart, "env">;
	/** Edited prompts; if undefined, the project's prompts are used. */
	readonly prompts: Pick<PromptEdits, "contentOf"> | undefined;
}

/**
 * Renders a prompt with its includes.
 * @throws HoldfastError `env_not_set`, `item_not_found`, `prompt_includes_itself`.
 */
export async function renderPrompt(
	parts: PromptParts,
	prompt: ProjectItem<"prompt">,
	within: readonly string[] = [],
): Promise<string> {
	const { index, env, prompts } = parts;
	const { namespace, name } = prompt;
	const content = (await prompts?.contentOf(prompt)) ?? prompt.definition.prompt;
	if (typeof content === "string") return content;
	if (within.includes(name))
		throw new HoldfastError(
			"prompt_includes_itself",
			`The prompt "${name}" includes itself: ${[...within, name].join(" → ")}. Remove one of the includes.`,
		);
	const texts: string[] = [];
	for (const part of content) {
		if (part.type === "text") texts.push(part.content);
		else if (part.type === "env") texts.push(await env.env(part.property));
		else {
			const included = index.item(namespace, "prompt", part.prompt);
			texts.push(await renderPrompt(parts, included, [...within, name]));
		}
	}
	return texts.join("");
}

/** @throws HoldfastError `env_not_set` naming the first required variable without a value. */
export async function requireVariables(
	{ definition, name }: ProjectItem<"prompt">,
	env: Pick<EnvironmentPart, "find">,
): Promise<void> {
	for (const variable of definition.variables ?? []) {
		if (!variable.required || (await env.find(variable.name)) !== undefined) continue;
		throw new HoldfastError(
			"env_not_set",
			`The prompt "${name}" needs the variable ${JSON.stringify(variable.name)} (${variable.description}), and no source of the environment has it. Set it in the thread, the agent, the prompt, the user's account or where the project is run.`,
			{ data: { name: variable.name } },
		);
	}
}
