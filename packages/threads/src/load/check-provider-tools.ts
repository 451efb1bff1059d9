// Tools that a model leaves to its provider must exist at the provider.
import { messageOf } from "@holdfast/upp";
import type { Project, ProjectItem, ProviderInstance } from "../types/index.ts";
import type { ProjectProblem } from "./problems.ts";

/** Finds problems in the `providerTools` of the models. */
export async function checkProviderTools(project: Project): Promise<readonly ProjectProblem[]> {
	const models = [...project.models.values()];
	const withTools = models.filter(({ definition }) => (definition.providerTools ?? []).length > 0);
	return [...models.flatMap(checkSupport), ...(await Promise.all(withTools.map(checkModel))).flat()];
}

/**
 * A model that its provider does not have. A provider that cannot be created without a key is checked when it is used.
 */
function checkSupport({ definition, file, name }: ProjectItem<"model">): readonly ProjectProblem[] {
	let provider: ProviderInstance;
	try {
		provider = definition.provider({ apiKey: "" });
		if (provider.supportsModel?.(definition.model) !== false) return [];
	} catch {
		return [];
	}
	const message = `The provider "${provider.name}" of the model "${name}" does not have ${JSON.stringify(definition.model)}.`;
	return [{ file, field: "model", message }];
}

async function checkModel(model: ProjectItem<"model">): Promise<readonly ProjectProblem[]> {
	const { definition, file, name } = model;
	const field = "providerTools";
	let offered: Readonly<Record<string, unknown>>;
	try {
		const provider = definition.provider({ apiKey: "" });
		offered = (await provider.getTools?.(definition.model)) ?? {};
	} catch (error) {
		const why = messageOf(error);
		const message = `The tools of the model "${name}" cannot be checked: its provider does not list them. ${why}`;
		return [{ file, field, message }];
	}
	return (definition.providerTools ?? [])
		.filter((tool) => !Object.hasOwn(offered, tool))
		.map((tool) => {
			const message = `The model "${name}" names the provider's tool "${tool}", which its provider does not have.`;
			return { file, field, message };
		});
}
