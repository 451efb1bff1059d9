// The port to models: the interface of a provider, and its configuration.

import type { LLMHandler } from "./model-port.ts";

/** The kinds of model a provider offers. */
export interface ProviderModalities {
	/** Binds language models. Without it, `llm()` rejects the provider. */
	llm?: LLMHandler;
	/** Reserved for embedding models; Holdfast does not call it. */
	embedding?: unknown;
	/** Reserved for image models; Holdfast does not call it. */
	image?: unknown;
}

/** Creates references to models. Call it with a model's id. */
export interface Provider<Options = any> {
	/** Creates a reference to a model. No request is made. */
	(modelId: string, options?: Options): ModelReference<Options>;
	/** The provider's name, used in errors. */
	readonly name: string;
	/** The provider's version, for information. */
	readonly version: string;
	/** The kinds of model it offers. */
	readonly modalities: ProviderModalities;
}

/** Identifies a model by its id and its provider. */
export interface ModelReference<Options = any> {
	/** The model's id at the provider. */
	readonly modelId: string;
	/** The provider that binds the model. */
	readonly provider: Provider<Options>;
	/** The options passed to the provider along with the id. */
	readonly options?: Options;
}
