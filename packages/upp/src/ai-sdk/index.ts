// The door of the AI SDK adapter. What carries a call out is loaded with the first call.

export { bindLanguageModel, bindLanguageModelSource } from "./language-model.ts";
export type { LanguageModel } from "./language-model-types.ts";
