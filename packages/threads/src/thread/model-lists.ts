// Lists of the project's models and of the models that their providers offer, for users to choose from.
import { HoldfastError } from "@holdfast/upp";
import { type EnvGiven, valueIn } from "../environment/index.ts";
import type {
	ModelCapabilities,
	Project,
	ProjectItem,
	ProviderInstance,
	ProviderModelsPage,
	ProviderModelsQuery,
} from "../types/index.ts";
import { capabilitiesOf, providerOf } from "./model-binding.ts";

/** A model of a project in the form that lists show. */
export interface ModelFacts {
	/** Its name in the project. */
	readonly name: string;
	/** Its name at the provider. */
	readonly model: string;
	/** Name of the provider; absent if it could not be created. */
	readonly provider?: string;
	/** URL of an icon. */
	readonly icon?: string;
	/** Absent if neither the definition nor the provider declares any. */
	readonly capabilities?: ModelCapabilities;
	/** Names of the models that take over on transient failures. */
	readonly fallbacks: readonly string[];
	/** Set if the provider could not be created or did not respond. */
	readonly failed?: true;
}

/** The models of a project. Their providers receive the keys in the environment of the program. */
export class ModelLists {
	readonly #project: () => Project;
	readonly #env: EnvGiven | undefined;

	/** Called by `Threads`. */
	constructor(project: () => Project, env: EnvGiven | undefined) {
		this.#project = project;
		this.#env = env;
	}

	/** Returns all models by name, with the data of their definitions and providers. */
	list(): Promise<readonly ModelFacts[]> {
		const models = [...this.#project().models.values()].sort((one, other) =>
			one.name < other.name ? -1 : 1,
		);
		return Promise.all(models.map((item) => this.#factsOf(item)));
	}

	/**
	 * Returns the models that the provider of a model offers, one page at a time. `limit` is 100 by default.
	 * @throws HoldfastError `item_not_found`; `models_not_listed` if the provider has no list or fails.
	 */
	async offered(name: string, query: ProviderModelsQuery = {}): Promise<ProviderModelsPage> {
		const item = this.#project().models.get(name);
		if (item === undefined)
			throw new HoldfastError("item_not_found", `The project has no model ${JSON.stringify(name)}.`);
		try {
			const provider = this.#made(item);
			if (provider.getModelsPage !== undefined) return await provider.getModelsPage(query);
			if (provider.getModels !== undefined) return pageOf(await provider.getModels(query.search), query);
		} catch (cause) {
			const message = `The provider of "${name}" could not list its models.`;
			throw new HoldfastError("models_not_listed", message, { cause });
		}
		throw new HoldfastError("models_not_listed", `The provider of "${name}" does not list its models.`);
	}

	async #factsOf(item: ProjectItem<"model">): Promise<ModelFacts> {
		const { name, definition } = item;
		const { model, fallbacks = [] } = definition;
		const facts = { name, model, fallbacks: [...fallbacks] };
		try {
			const provider = this.#made(item);
			const capabilities = await capabilitiesOf(definition, provider);
			const icon = provider.getIcon?.(model);
			return {
				...facts,
				provider: provider.name,
				...(icon === undefined ? {} : { icon }),
				...(capabilities === undefined ? {} : { capabilities }),
			};
		} catch {
			return { ...facts, failed: true };
		}
	}

	#made({ definition }: ProjectItem<"model">): ProviderInstance {
		const { apiKeyEnv } = definition.provider;
		return providerOf(definition, apiKeyEnv === undefined ? undefined : valueIn(this.#env, apiKeyEnv)?.value);
	}
}

/** Returns a page of a complete list. Its cursor is the number of models before it. */
function pageOf(
	models: ProviderModelsPage["models"],
	{ limit = 100, cursor = "0" }: ProviderModelsQuery,
): ProviderModelsPage {
	const from = /^\d{1,9}$/.test(cursor) ? Number(cursor) : 0;
	const until = from + limit;
	return {
		models: models.slice(from, until),
		nextCursor: until < models.length ? String(until) : null,
		total: models.length,
	};
}
