// The entry point of the AI SDK adapter. The code that runs a call is loaded with the first call.

export {
	type PlacedProviderPart,
	type ProviderPart,
	providerParts,
	replacedId,
	replacing,
} from "./carried.ts";
export { bindLanguageModel, bindLanguageModelSource } from "./language-model.ts";
export type { LanguageModel } from "./language-model-types.ts";
