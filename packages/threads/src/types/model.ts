// Models: their provider, prices and capabilities.

import type { InferProviderOptions, ProviderFactoryWithOptions } from "./provider.ts";
import type { ModelName } from "./registry.ts";

/** The capabilities of a model. A missing field means unknown. */
export interface ModelCapabilities {
	/** Levels of reasoning from 0 to 100, with the provider's name for each; null for none. */
	reasoningLevels?: Record<number, string | null>;
	/** Whether it supports images. */
	supportsImages?: boolean;
	/** Whether it calls tools. */
	supportsToolCalls?: boolean;
	/** Whether it streams. */
	supportsStreaming?: boolean;
	/** Whether it answers in JSON. */
	supportsJsonMode?: boolean;
	/** Maximum number of tokens of a request and its answer. */
	maxContextTokens?: number;
	/** Maximum number of tokens of an answer. */
	maxOutputTokens?: number;
}

/** A model that a provider offers. */
export interface ProviderModelInfo {
	/** Its name at the provider. */
	id: string;
	/** The display name. */
	name: string;
	/** A description of its strengths. */
	description?: string;
	/** Maximum number of tokens of a request and its answer. */
	contextLength?: number;
	/** The id of its icon. */
	iconId?: string;
	/** The name for further look-ups. */
	slug?: string;
	/** The capabilities of the model. */
	capabilities?: ModelCapabilities;
}

/** Which models to list. */
export interface ProviderModelsQuery {
	/** Words that its name must contain. */
	search?: string;
	/** Maximum number of models per page. */
	limit?: number;
	/** The start of the page: `nextCursor` of the previous one. */
	cursor?: string;
}

/** A page of models. */
export interface ProviderModelsPage {
	/** The models of this page. */
	models: ProviderModelInfo[];
	/** The start of the next page; null or absent on the last one. */
	nextCursor?: string | null;
	/** Total number of models. */
	total?: number;
}

/**
 * A defined model.
 */
export interface ModelDefinition<
	Name extends string = string,
	P extends ProviderFactoryWithOptions = ProviderFactoryWithOptions,
> {
	/** Its name in the project, unique among models. */
	name: Name;
	/** Creates the provider that answers. */
	provider: P;
	/** Its name at the provider. */
	model: string;
	/** Names of models that are tried in order if this one fails temporarily. */
	fallbacks?: readonly ModelName[];
	/** Providers that a router may choose from. */
	includedProviders?: string[];
	/** US dollars per million request tokens. */
	inputPrice?: number;
	/** US dollars per million answer tokens. */
	outputPrice?: number;
	/** US dollars per million cached request tokens. */
	cachedPrice?: number;
	/** The capabilities of the model. */
	capabilities?: ModelCapabilities;
	/** Options for the provider, validated when the model is defined. */
	providerOptions?: InferProviderOptions<P>;
	/** Names of tools that the provider executes. */
	providerTools?: string[];
}
