// The door of the providers: those that come along, and how whatever is given as a model becomes a reference.

export {
	anthropic,
	type FactoryOptions,
	google,
	type OpenAICompatibleOptions,
	type OpenAIOptions,
	openai,
	openaiCompatible,
} from "./factories.ts";
export { isLanguageModel, isModelReference, resolveModel } from "./resolve-model.ts";
