// Creates providers: functions that turn a model's id into a reference.

import { checkOptions, optionNames } from "../errors/index.ts";
import { checkedModel } from "./checked-model.ts";
import type { LLMHandler } from "./model-port.ts";
import type { ModelReference, Provider, ProviderModalities } from "./provider.ts";

const providerNames = optionNames<ProviderOptions>({ name: "text", version: "text", modalities: "object" });

/** The parts of a provider. */
export interface ProviderOptions {
	/** The provider's name, used in errors. */
	name: string;
	/** The provider's version, for information. */
	version: string;
	/** The kinds of model it offers. */
	modalities: ProviderModalities;
}

/**
 * Creates a provider. Call it with a model's id to get a reference that every option for a model accepts.
 */
export function createProvider<Options = any>(options: ProviderOptions): Provider<Options> {
	checkOptions(options, providerNames, { of: "createProvider()" });
	const provider = (modelId: string, modelOptions?: Options): ModelReference<Options> =>
		modelOptions === undefined
			? { modelId, provider: provider as Provider<Options> }
			: { modelId, provider: provider as Provider<Options>, options: modelOptions };
	// A function's own `name` is read-only to assignment, so it is defined.
	Object.defineProperties(provider, {
		name: { value: options.name, enumerable: true },
		version: { value: options.version, enumerable: true },
		modalities: { value: checkedModalities(options), enumerable: true },
	});
	return provider as Provider<Options>;
}

/** Answers of a provider's models are validated for every caller. */
function checkedModalities({ name, modalities }: ProviderOptions): ProviderModalities {
	const handler = modalities?.llm;
	if (typeof handler?.bind !== "function") return modalities;
	const bind: LLMHandler["bind"] = (modelId, options) => checkedModel(handler.bind(modelId, options), name);
	return { ...modalities, llm: { bind } };
}
