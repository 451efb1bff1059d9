// The entry point of the providers: the bundled ones, and the conversion of any model into a reference.

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
