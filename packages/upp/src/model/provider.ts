// The port to models: what a provider is and how it is set up.

import type { LLMHandler } from "./model-port.ts";

/** The kinds of model a provider offers. */
export interface ProviderModalities {
	llm?: LLMHandler;
	embedding?: unknown;
	image?: unknown;
}

/** Makes references to models; it is called with a model's id. */
export interface Provider<Options = any> {
	(modelId: string, options?: Options): ModelReference<Options>;
	readonly name: string;
	readonly version: string;
	readonly modalities: ProviderModalities;
}

/** A model by its id and its provider. */
export interface ModelReference<Options = any> {
	readonly modelId: string;
	readonly provider: Provider<Options>;
	/** The options of the provider's call besides the id. */
	readonly options?: Options;
}
