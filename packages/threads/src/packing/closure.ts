// Determines which items and which files a package of agents needs.
import type { ItemKind, Project, ProjectItem, PromptDefinition } from "../types/index.ts";

/** Returns the items that agents need, including themselves: everything they refer to, directly or indirectly. */
export function itemsOf(project: Project, starts: readonly ProjectItem[]): readonly ProjectItem[] {
	const found = new Set<ProjectItem>(starts);
	for (const item of found) {
		for (const [kind, name] of namesOf(item)) {
			const named = project.visible(item.namespace, kind, name);
			if (named !== undefined) found.add(named);
		}
	}
	return [...found];
}

const calls =
	/\.(?<call>scheduleEffect|queueTool|invokeTool|loadPrompt|loadAgent|loadModel)\(\s*(?<quote>["'`])(?<name>[^"'`]+)\k<quote>/g;

/** Returns the names that code passes to the functions of a thread as string literals. */
export function namedInCode(code: string): readonly Named[] {
	return [...code.matchAll(calls)].flatMap(({ groups }): readonly Named[] => {
		const name = groups?.name ?? "";
		switch (groups?.call) {
			case "scheduleEffect":
				return [["effect", name]];
			case "loadPrompt":
				return [["prompt", name]];
			case "loadAgent":
				return [["agent", name]];
			case "loadModel":
				return [["model", name]];
			default:
				return callable(name);
		}
	});
}

type Named = readonly [kind: ItemKind, name: string];

/** Returns the names that an item uses. The name of a callable may be that of a tool, a prompt or an agent. */
function namesOf(item: ProjectItem): readonly Named[] {
	if (isKind(item, "agent")) {
		const { sideA, sideB, hooks = [] } = item.definition;
		const sides = [sideA, ...(sideB === undefined ? [] : [sideB])];
		return [
			...sides.map(({ prompt }): Named => ["prompt", prompt]),
			...sides
				.flatMap(({ stopTool, sessionStop, sessionFail, sessionStatus }) => [
					stopTool,
					sessionStop,
					sessionFail,
					sessionStatus,
				])
				.flatMap((binding) =>
					binding === undefined ? [] : callable(typeof binding === "string" ? binding : binding.name),
				),
			...hooks.map((hook): Named => ["hook", hook]),
		];
	}
	if (isKind(item, "prompt")) return namesOfPrompt(item.definition);
	if (isKind(item, "tool")) return (item.definition.uses ?? []).flatMap(callable);
	if (isKind(item, "model")) return (item.definition.fallbacks ?? []).map((name): Named => ["model", name]);
	return [];
}

function namesOfPrompt({ model, prompt, tools = [], hooks = [] }: PromptDefinition): readonly Named[] {
	const parts = typeof prompt === "string" ? [] : prompt;
	return [
		["model", model],
		...parts.flatMap((part): Named[] => (part.type === "include" ? [["prompt", part.prompt]] : [])),
		...tools.flatMap((tool) => callable(typeof tool === "string" ? tool : tool.name)),
		...hooks.map((hook): Named => ["hook", hook]),
	];
}

function callable(name: string): readonly Named[] {
	return [
		["tool", name],
		["prompt", name],
		["agent", name],
	];
}

function isKind<Kind extends ItemKind>(item: ProjectItem, kind: Kind): item is ProjectItem<Kind> {
	return item.kind === kind;
}
