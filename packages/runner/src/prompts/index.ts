// Entry point of the prompts.
export type { PromptLimits } from "./budget.ts";
export {
	type DatabasePromptStoreOptions,
	databasePromptStore,
	memoryPromptStore,
	type PromptStoreOptions,
} from "./prompt-stores.ts";
export type { CreatingDatabase } from "./template-keeper.ts";
