// Models: which provider answers, at what price, with what abilities.

import type { InferProviderOptions, ProviderFactoryWithOptions } from "./provider.ts";
import type { ModelName } from "./registry.ts";

/** The capabilities of a model. A missing field means unknown. */
export interface ModelCapabilities {
	/** Levels of reasoning from 0 to 100 and the provider's word for each; null for none. */
	reasoningLevels?: Record<number, string | null>;
	/** Whether it sees images. */
	supportsImages?: boolean;
	/** Whether it calls tools. */
	supportsToolCalls?: boolean;
	/** Whether it streams. */
	supportsStreaming?: boolean;
	/** Whether it answers in JSON. */
	supportsJsonMode?: boolean;
	/** Most tokens of a request and its answer. */
	maxContextTokens?: number;
	/** Most tokens of an answer. */
	maxOutputTokens?: number;
}

/** A model that a provider has. */
export interface ProviderModelInfo {
	/** Its name, in the provider's words. */
	id: string;
	/** The display name. */
	name: string;
	/** A description of its strengths. */
	description?: string;
	/** Most tokens of a request and its answer. */
	contextLength?: number;
	/** Which icon it has. */
	iconId?: string;
	/** The name for further look-ups. */
	slug?: string;
	/** The capabilities of the model. */
	capabilities?: ModelCapabilities;
}

/** Which models are listed. */
export interface ProviderModelsQuery {
	/** Words that its name has. */
	search?: string;
	/** Most models of a page. */
	limit?: number;
	/** Where the page starts: `nextCursor` of the one before. */
	cursor?: string;
}

/** A page of models. */
export interface ProviderModelsPage {
	/** The models of this page. */
	models: ProviderModelInfo[];
	/** Where the next page starts; null or absent after the last. */
	nextCursor?: string | null;
	/** How many models there are in all. */
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
	/** Makes the provider that answers. */
	provider: P;
	/** Its name at the provider. */
	model: string;
	/** Names of models that are tried in order when this one fails for now. */
	fallbacks?: readonly ModelName[];
	/** Providers that a router may choose from. */
	includedProviders?: string[];
	/** USD for a million tokens of request. */
	inputPrice?: number;
	/** USD for a million tokens of answer. */
	outputPrice?: number;
	/** USD for a million tokens of request that were cached. */
	cachedPrice?: number;
	/** The capabilities of the model. */
	capabilities?: ModelCapabilities;
	/** Options for the provider, checked when the model is defined. */
	providerOptions?: InferProviderOptions<P>;
	/** Names of tools that the provider executes. */
	providerTools?: string[];
}
