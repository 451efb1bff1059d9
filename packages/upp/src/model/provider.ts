// The port to models: the interface of a provider, and its configuration.

import type { LLMHandler } from "./model-port.ts";

/** The kinds of model a provider offers. */
export interface ProviderModalities {
	llm?: LLMHandler;
	embedding?: unknown;
	image?: unknown;
}

/** Creates references to models. Call it with a model's id. */
export interface Provider<Options = any> {
	(modelId: string, options?: Options): ModelReference<Options>;
	readonly name: string;
	readonly version: string;
	readonly modalities: ProviderModalities;
}

/** Identifies a model by its id and its provider. */
export interface ModelReference<Options = any> {
	readonly modelId: string;
	readonly provider: Provider<Options>;
	/** The options passed to the provider along with the id. */
	readonly options?: Options;
}
