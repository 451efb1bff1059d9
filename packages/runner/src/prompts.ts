// Entry point `@holdfast/runner/prompts`: versioned templates of prompts.

export type { PromptEngine, PromptStore, PromptTemplate, RenderedPrompt } from "./contract/prompt-store.ts";
export {
	type CreatingDatabase,
	type DatabasePromptStoreOptions,
	databasePromptStore,
	memoryPromptStore,
	type PromptLimits,
	type PromptStoreOptions,
} from "./prompts/index.ts";
