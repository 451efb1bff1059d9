// The door of the AI SDK adapter. What carries a call out is loaded with the first call.

export { type PlacedProviderPart, type ProviderPart, providerParts } from "./carried.ts";
export { bindLanguageModel, bindLanguageModelSource } from "./language-model.ts";
export type { LanguageModel } from "./language-model-types.ts";
