// The entry point of `llm()` and of the binding that every engine uses to build requests.

export { bindModel, checkCachedParts, type ModelBinding, type RequestExtra } from "./bind.ts";
export { llm, llmOptionsOf } from "./llm.ts";
export type { LLMHistory, LLMInput, LLMInstance, LLMOptions, StreamResult } from "./llm-types.ts";
export type { ToolRunContext } from "./tool-round.ts";
