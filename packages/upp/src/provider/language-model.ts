// The AI SDK adapter's door: a model of the AI SDK as a BoundLLMModel.

import { HoldfastError } from "../errors/holdfast-error.ts";
import type { BoundLLMModel } from "../llm/llm-types.ts";
import type { LanguageModel } from "./language-model-types.ts";

/** Makes a model of the AI SDK ready to be called as a UPP model. */
export function bindLanguageModel(model: LanguageModel): BoundLLMModel {
	throw new HoldfastError("invalid_model", `The model ${model.modelId} cannot be called yet.`);
}
