// Every name that an item uses must exist in its namespace.
import type { Project, ProjectItem } from "../types/index.ts";
import { checkPrompts } from "./check-prompts.ts";
import { checkProviderTools } from "./check-provider-tools.ts";
import { missing, missingCallables } from "./missing.ts";
import type { ProjectProblem } from "./problems.ts";

/** Finds problems in the names that items refer to. */
export async function checkReferences(project: Project): Promise<readonly ProjectProblem[]> {
	return [
		...[...project.agents.values()].flatMap((agent) => checkAgent(project, agent)),
		...checkPrompts(project),
		...[...project.tools.values()].flatMap((tool) => checkTool(project, tool)),
		...[...project.models.values()].flatMap((model) => checkModel(project, model)),
		...(await checkProviderTools(project)),
	];
}

function checkAgent(project: Project, agent: ProjectItem<"agent">): readonly ProjectProblem[] {
	const { sideA, sideB, hooks } = agent.definition;
	const problems = missing(project, agent, "hook", "hooks", hooks ?? []);
	for (const [field, side] of Object.entries({ sideA, sideB })) {
		if (side === undefined) continue;
		problems.push(...missing(project, agent, "prompt", `${field}.prompt`, [side.prompt]));
		for (const member of ["stopTool", "sessionStop", "sessionFail", "sessionStatus"] as const) {
			const binding = side[member];
			const name = typeof binding === "object" ? binding.name : binding;
			if (name !== undefined)
				problems.push(...missingCallables(project, agent, `${field}.${member}`, [name]));
		}
	}
	return problems;
}

function checkTool(project: Project, tool: ProjectItem<"tool">): readonly ProjectProblem[] {
	return missingCallables(project, tool, "uses", tool.definition.uses ?? []);
}

function checkModel(project: Project, model: ProjectItem<"model">): readonly ProjectProblem[] {
	return missing(project, model, "model", "fallbacks", model.definition.fallbacks ?? []);
}
